"""Word lists: the subjects of requests, and words that may replace each other.

Made by hand from the most frequent words of the training stories.
"""

GIRLS = (
    "Lily Sue Mia Lucy Anna Amy Sally Sara Jane Sarah Daisy Lila Jill Molly Emma Mary Bella Jenny Luna Lulu Jen Ella Lola Rose "
    "Lisa Tina Polly Emily Betty Kate Susie Kim Penny Poppy Sophie Tilly Ellie Julie Alice Millie Maria Annie Grace Clara Lilly "
    "Jenna Ruby Claire Maggie Rachel Linda Zara Rosie Zoe Chloe Lena Becky Mina Maya Nora Ruth Hannah Olivia Eva Ava"
).split()
BOYS = (
    "Tim Tom Sam Max Ben Timmy Bob Jack John Billy Tommy Joe Jimmy Benny Leo Mark Jim Jerry Bobby Sammy Jake Pete Fred Andy Peter "
    "Charlie Bill Johnny Freddy Henry David Toby George Dave Joey Alex Mike James Danny Tony Dan Carl Oliver Harry Ted Frank Finn "
    "Paul Thomas Adam Gary Noah Luke Oscar Hugo Eric Simon"
).split()
PETS = "Spot Fluffy Bobo Buddy Whiskers Mimi Momo Ollie Rex Mittens Spike Coco Pip Snowy Patch Ginger Lucky Biscuit Pepper".split()
COLORS = "red blue green yellow purple orange pink white black brown".split()

# singular -> plural; all are interchangeable in a story without any of TELLING
ANIMALS = {
    "cat": "cats", "dog": "dogs", "bird": "birds", "bear": "bears", "bunny": "bunnies", "rabbit": "rabbits", "fox": "foxes",
    "mouse": "mice", "squirrel": "squirrels", "frog": "frogs", "duck": "ducks", "lion": "lions", "monkey": "monkeys",
    "elephant": "elephants", "pig": "pigs", "cow": "cows", "horse": "horses", "sheep": "sheep", "goat": "goats", "owl": "owls",
    "turtle": "turtles", "fish": "fish", "bee": "bees", "ant": "ants", "bug": "bugs", "butterfly": "butterflies",
    "dragon": "dragons", "tiger": "tigers", "giraffe": "giraffes", "penguin": "penguins", "hedgehog": "hedgehogs",
    "chicken": "chickens", "hen": "hens", "deer": "deer", "wolf": "wolves", "crab": "crabs", "snail": "snails", "worm": "worms",
    "spider": "spiders", "panda": "pandas", "zebra": "zebras", "parrot": "parrots", "dolphin": "dolphins", "whale": "whales",
    "kitten": "kittens", "puppy": "puppies", "dinosaur": "dinosaurs", "crocodile": "crocodiles", "hippo": "hippos", "eagle": "eagles",
    "raven": "ravens", "swan": "swans", "goose": "geese", "donkey": "donkeys", "snake": "snakes", "lizard": "lizards",
    "octopus": "octopuses", "shark": "sharks", "kangaroo": "kangaroos", "unicorn": "unicorns", "caterpillar": "caterpillars",
}  # fmt: skip
SWAPPABLE = "cat dog bunny rabbit fox bear mouse squirrel pig sheep goat lion tiger monkey elephant panda hedgehog wolf horse deer".split()
TELLING = (
    "bark barked barking woof meow meowed purr purred roar roared oink moo neigh ride rode trunk horn wool web shell wing wings fly flew "
    "swim swam nest egg eggs kitty kitties kitten kittens puppy puppies doggy doggie cub cubs mane stripes bone bones leash vet pet"
).split()

PEOPLE = {
    "girl": "girls", "boy": "boys", "man": "men", "woman": "women", "lady": "ladies", "king": "kings", "queen": "queens",
    "princess": "princesses", "prince": "princes", "fairy": "fairies", "witch": "witches", "wizard": "wizards", "giant": "giants",
    "pirate": "pirates", "doctor": "doctors", "teacher": "teachers", "farmer": "farmers", "robot": "robots", "monster": "monsters",
    "clown": "clowns", "grandma": "grandmas", "grandmother": "grandmothers", "baby": "babies", "hunter": "hunters", "chef": "chefs",
    "driver": "drivers", "soldier": "soldiers", "knight": "knights", "snowman": "snowmen", "sister": "sisters", "brother": "brothers",
    "twin": "twins", "family": "families", "captain": "captains", "sailor": "sailors", "judge": "judges", "ghost": "ghosts",
    "mermaid": "mermaids", "firefighter": "firefighters", "policeman": "policemen", "neighbor": "neighbors", "hero": "heroes",
}  # fmt: skip
THINGS = {
    w: w + ("es" if w.endswith(("s", "x", "ch", "sh")) else "s")
    for w in (
        "ball tree car box truck boat train doll hat dress cake cookie flower garden house castle bike kite balloon book picture robot "
        "rock stone swing slide blanket bed coat shoe sock key door window table chair cup bowl spoon plate pot jar basket bag bottle "
        "apple banana orange lemon carrot pumpkin tomato potato sandwich pizza candy lollipop muffin pie egg nest leaf branch seed "
        "star moon rainbow cloud river lake pond island mountain hill cave bridge tower ship rocket airplane plane bus wagon drum "
        "piano guitar bell horn puzzle crayon pencil letter map treasure coin ring necklace crown wand mirror lamp candle clock "
        "camera phone computer radio umbrella scarf glove mask costume pillow tent ladder rope hammer broom bucket shovel hose net "
        "feather shell snowflake puddle present gift surprise secret song dance race game party picnic birthday wish dream sandcastle "
        "fountain statue playground zoo farm school store shop library hospital circus museum oven fridge button zipper backpack towel bath"
    ).split()
}
HEADS = {**THINGS, **PEOPLE, **ANIMALS}

ADJECTIVES = set(
    "big little small new old tiny young brave kind clever wise shy lazy happy sad lonely curious friendly funny silly smart nice good "
    "gentle playful careful helpful honest loyal naughty grumpy greedy selfish mean jealous proud humble modest generous cheerful "
    "jolly stubborn clumsy sleepy tired hungry scared magic magical special shiny colorful beautiful pretty cute fluffy furry soft "
    "tall short fat thin fast slow strong weak huge giant enormous rich poor lost broken red blue green yellow purple orange pink white "
    "black brown golden silver wild talking invisible mysterious strange secret hidden lucky unlucky noisy quiet quick nosy fancy "
    "elderly creative adventurous bossy messy dirty clean warm cold wet hot dark bright delicious yummy sweet sour spicy wooden toy teddy "
    "polite patient thoughtful graceful obedient intelligent rude ugly famous unusual ordinary independent dependable reliable "
    "fearful ignorant troubled charming adorable cheeky wealthy angry excited worried bored upset mighty powerful fearless".split()
)
# traits of a character, searched for in the whole story: "the cat was very brave"
TRAITS = (
    "brave kind clever wise shy lazy happy sad lonely curious friendly funny silly smart gentle playful careful helpful honest loyal "
    "naughty grumpy greedy selfish mean jealous proud humble modest generous cheerful stubborn clumsy sleepy tired hungry scared "
    "patient polite strong fast slow creative adventurous angry excited bored"
).split()
PLACES = {
    "park": "at the park", "beach": "at the beach", "forest": "in the forest", "woods": "in the woods", "farm": "on a farm",
    "zoo": "at the zoo", "garden": "in the garden", "school": "at school", "store": "at the store", "jungle": "in the jungle",
    "ocean": "in the ocean", "sea": "by the sea", "castle": "in a castle", "kitchen": "in the kitchen", "river": "by the river",
    "pond": "at the pond", "playground": "at the playground", "village": "in a village", "mountain": "on a mountain",
    "snow": "in the snow", "rain": "in the rain", "lake": "by the lake", "meadow": "in a meadow", "cave": "in a cave", "library": "at the library",
}  # fmt: skip
THEMES = {
    "sharing": "share shared sharing", "being kind": "kind kindness", "being brave": "brave bravery courage", "friendship": "friend friends friendship",
    "making a new friend": "friend friends", "telling the truth": "truth lie lied honest", "saying sorry": "sorry forgive forgave apologized",
    "helping others": "help helped helping helpful", "listening to your parents": "listen listened obey", "getting lost": "lost",
    "being patient": "patient patience wait", "trying again": "try tried practice practiced again", "a birthday": "birthday", "a surprise": "surprise surprised",
    "an adventure": "adventure adventures explore", "bedtime": "bed sleep asleep", "a rainy day": "rain rainy wet", "cleaning up": "clean cleaned mess",
    "a race": "race raced won", "magic": "magic magical spell", "a picnic": "picnic", "cooking": "cook cooked soup cake", "music": "music song sing sang",
    "painting": "paint painted paints", "a storm": "storm thunder", "treasure": "treasure", "being careful": "careful danger dangerous",
    "a dream": "dream dreamed", "snow": "snow snowman", "flying": "fly flew flying", "swimming": "swim swam swimming", "dancing": "dance danced dancing",
}  # fmt: skip
