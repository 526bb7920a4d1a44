"""Makes conversations from stories: a matching request, the story, and sometimes a second turn.

A message is (role, text, learn). `learn` marks answers to train on.
"""

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache

from lexicon import ADJECTIVES, ANIMALS, BOYS, GIRLS, HEADS, PEOPLE, PLACES, THEMES, THINGS, TRAITS

Message = tuple[str, str, bool]
PEOPLE_NAMES = {**{n: "her" for n in GIRLS}, **{n: "his" for n in BOYS}}
SINGULAR = {plural: singular for singular, plural in HEADS.items()}


@dataclass
class Facts:
    """The subjects of a story, most salient first."""

    heads: list[str] = field(default_factory=list)  # "cat"
    phrases: list[str] = field(default_factory=list)  # "a brave cat", "a girl named Lily", "a dog who loved to run"
    names: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    themes: list[str] = field(default_factory=list)


@cache  # too many patterns for the cache of `re`
def pattern(text: str) -> re.Pattern:
    return re.compile(text)


def article(phrase: str) -> str:
    return ("an " if phrase[0] in "aeiou" else "a ") + phrase


def find_facts(story: str) -> Facts:
    lower = story.lower()
    words = Counter(re.findall(r"[a-z]+", lower))
    opening = " ".join(re.split(r"(?<=[.!?\"])\s", story)[:3])
    opening_words = set(re.findall(r"[a-z]+", opening.lower()))
    counts: Counter[str] = Counter()
    for word, n in words.items():
        head = word if word in HEADS else SINGULAR.get(word)
        if head:
            counts[head] += n

    def salience(head: str) -> float:
        kind = 2.0 if head in ANIMALS else 1.5 if head in THINGS else 1.0  # most stories have a girl, few have a fox
        return kind * counts[head] * (2 if head in opening_words else 1)

    heads = [h for h in counts if counts[h] >= 3 or (counts[h] == 2 and h in opening_words)]
    heads.sort(key=salience, reverse=True)
    facts = Facts(heads=heads[:4])
    facts.names = sorted({n for n in PEOPLE_NAMES if n in story and story.count(n) >= 3}, key=lambda n: story.index(n))[:2]

    for head in facts.heads[:2]:
        facts.phrases += describe(head, story, lower)
    for name in facts.names:
        for m in pattern(rf"\b(?:an?|the) ((?:[a-z]+ ){{0,2}}(?:girl|boy|man|woman|child)) (?:named|called) {name}\b").finditer(story):
            facts.phrases.append(article(m[1]) + f" named {name}")
        owned = [h for h in facts.heads if pattern(rf"\b(?:{PEOPLE_NAMES[name]}|{name}'s) (?:[a-z]+ )?{h}\b").search(story)]
        facts.phrases += [f"{name} and {PEOPLE_NAMES[name]} {h}" for h in owned if h not in ("baby", "family")]
    facts.places = [p for p in PLACES if words[p] >= 2]
    for theme, keys in THEMES.items():
        if sum(words[k] for k in keys.split()) >= 3:
            facts.themes.append(theme)
    return facts


def describe(head: str, story: str, lower: str) -> list[str]:
    """Noun phrases for a head word, supported by the story itself."""
    found = []
    for m in pattern(rf"\b(?:an?|the|her|his) ((?:[a-z]+,? ){{1,2}}){head}\b").finditer(lower):
        adjectives = m[1].replace(",", "").split()
        if all(a in ADJECTIVES for a in adjectives):
            found.append(article(" ".join([*adjectives, head])))
    for m in pattern(rf"\b{head} (?:was|is|felt) (?:very |so |a very )?([a-z]+)\b").finditer(lower):
        if m[1] in TRAITS:
            found.append(article(f"{m[1]} {head}"))
    if head in ANIMALS or head in PEOPLE:
        found += [article(f"{t} {head}") for t in TRAITS if len(pattern(rf"\b{t}\b").findall(lower)) >= 2][:2]
        for m in pattern(rf"\b{head} (?:who|that) ((?:loved|liked|wanted|lived|was|had)\b[a-z ]{{4,40}})[.,]").finditer(lower):
            found.append(article(f"{head} who {m[1]}"))
        for m in pattern(rf"\b((?:[a-z]+ )?{head}) (?:named|called) ([A-Z][a-z]+)\b").finditer(story):
            first = m[1].split()[0]
            if first == head or first in ADJECTIVES:
                found.append(article(m[1]) + f" named {m[2]}")
    return list(dict.fromkeys(found))


ABOUT = """Tell me a story about {x}.|Tell me a story about {x}|tell me a story about {x}|Tell me a story about {x}!|Write a story about {x}.
Write a story about {x}|Can you tell me a story about {x}?|Can you tell a story about {x}?|Please tell me a story about {x}.
I want to hear a story about {x}.|A story about {x}, please.|a story about {x}|A story about {x}.|Could you write a story about {x}?
Make up a story about {x}.|Tell me a bedtime story about {x}.|I would like a story about {x}.|Do you know a story about {x}?
Give me a story about {x}.|Write me a story about {x}.|Tell a story about {x}.|I'd love to hear a story about {x}.|story about {x}
Can you write a story for my daughter about {x}?|My son wants a story about {x}.|Let's have a story about {x}.|Tell us a story about {x}.
Please write a story about {x}|Tell me something about {x}.|How about a story about {x}?|{X}|{X}.|Could you tell me a tale about {x}?
Write a children's story about {x}.|Hi! Tell me a story about {x}.|Hello, can you tell me a story about {x}?|I love {x}. Tell me a story!"""
SHORT = """Tell me a short story about {x}.|Write a short story about {x}.|Can you tell me a short story about {x}?|A very short story about {x}, please.
Write a little story about {x}.|Tell me a short story about {x}|Write a short story about {x}"""
LONG = "Tell me a long story about {x}.|Write a long story about {x}.|Can you tell me a longer story about {x}?"
PLAIN = """Tell me a story.|Tell me a story|Tell me a bedtime story.|Can you tell me a story?|Write a story.|I want a story.|A story, please!
Please tell me a nice story.|Surprise me with a story.|Tell me something nice.|I can't sleep. Tell me a story.|Make up a story.|tell me a story"""
STARTS = """Can you tell me a story that starts with: {x}|Write a story that begins with: {x}|Start a story with: {x}|Tell me a story that starts like this: {x}
Tell me a story that starts with "{x}"|Continue: {x}|{x}"""
WORDS = """Write a story with the words {x}.|Tell me a story that has the words {x} in it.|Use these words in a story: {x}.|Make a story from these words: {x}"""
ANOTHER = """Tell me another story about {x}.|Now one about {x}.|Now tell me one about {x}.|Another one, about {x}.|Can you tell me another story about {x}?
And one about {x}?|That was nice! Now a story about {x}.|Now a story about {x}, please.|Great! Tell me a story about {x} now.|I liked that. Tell me one about {x}.
Tell me a different story, about {x}.|now tell me a story about {x}|Tell me another story about {x}"""
ANOTHER_PLAIN = "Tell me another story.|Another one, please!|One more story, please.|Tell me one more.|Another story|Can you tell me another one?|Again! Another story!"
BEGIN = "Start a story about {x}.|Tell me the beginning of a story about {x}.|Begin a story about {x}.|Write the first part of a story about {x}."
NEXT = """Continue the story.|What happened next?|And then?|Go on.|Continue|Please continue.|What happens next?|Tell me more.|Continue the story
How does the story end?|And then what happened?|continue|Keep going.|more|What did they do next?|How did it end?"""

# The page is a chat: small talk gets an honest answer instead of a strange story.
SMALL_TALK = {
    "Hello!|Hi|Hello|Hi there!|Hey|Good morning!|Good evening": "Hello! I tell little stories. What should my story be about?",
    "Who are you?|What are you?|What is your name?|Are you a robot?": "I am Storyteller, a very small language model. I tell little stories. Ask me for one about an animal, a child or a thing!",
    "What can you do?|Help|What do you know?|How does this work?": "I can tell little stories. Say what the story should be about, for example a brave cat or a lost ball.",
    "Thank you!|Thanks|Thank you, that was lovely.|Thanks for the story!": "You are welcome! Would you like another story?",
    "Goodbye!|Bye|Good night!|See you": "Goodbye! Come back when you want another story.",
    "What is 2+2?|What is the capital of France?|Write some code.|What is the weather today?|Who is the president?|Translate this to French.|Explain gravity.|What time is it?|Solve this equation.":
        "I do not know that. I only tell little stories. Ask me for a story about an animal, a child or a thing!",
}  # fmt: skip


def options(text: str) -> list[str]:
    return [t for t in re.split(r"[|\n]", text) if t]


def fill(templates: str, x: str, rng: random.Random) -> str:
    return rng.choice(options(templates)).replace("{X}", x[0].upper() + x[1:]).replace("{x}", x)


def subject(facts: Facts, rng: random.Random) -> str | None:
    """One subject of the story. Descriptive phrases come before bare words."""
    kinds = []
    if facts.phrases:
        kinds += [facts.phrases] * 5
    if facts.heads:
        kinds.append([article(h) for h in facts.heads[:2]])
        kinds.append([HEADS[h] for h in facts.heads[:1]])
    if len(facts.heads) > 1:
        kinds.append([f"{article(facts.heads[0])} and {article(facts.heads[1])}"] * 2)
        kinds.append([f"{article(facts.heads[1])} and {article(facts.heads[0])}"])
    if facts.names:
        kinds.append([facts.names[0], " and ".join(facts.names)])
    if facts.heads and facts.places:
        kinds.append([f"{article(facts.heads[0])} {PLACES[p]}" for p in facts.places])
    if facts.themes:
        kinds.append(facts.themes)
    return rng.choice(rng.choice(kinds)) if kinds else None


def request(story: str, facts: Facts, rng: random.Random, about: str = ABOUT) -> str:
    chosen = subject(facts, rng)
    n_words, roll = len(story.split()), rng.random()
    if chosen is None or roll < 0.03:
        return rng.choice(options(PLAIN))
    if roll < 0.07:
        first = re.split(r"(?<=[.!?])\s", story)[0]
        if len(first) < 120 and '"' not in first:
            return fill(STARTS, first, rng)
    if roll < 0.09 and len(facts.heads) >= 3:
        return fill(WORDS, ", ".join(facts.heads[:3]), rng)
    if n_words < 130 and roll < 0.35:
        about = SHORT
    elif n_words > 220 and roll < 0.2:
        about = LONG
    return fill(about, chosen, rng)


def single(story: str, rng: random.Random) -> list[Message]:
    return [("user", request(story, find_facts(story), rng), False), ("assistant", story, True)]


def followed_by(first: str, second: str, rng: random.Random) -> list[Message]:
    """Two stories. The second request names the subject of the second story."""
    chosen = subject(find_facts(second), rng)
    plain = chosen is None or rng.random() < 0.1
    ask = rng.choice(options(ANOTHER_PLAIN)) if plain else fill(ANOTHER, chosen, rng)
    return [*single(first, rng), ("user", ask, False), ("assistant", second, True)]


def continued(story: str, rng: random.Random) -> list[Message] | None:
    """One story told in two answers. The first half is trained on only if the request asks for a beginning."""
    sentences = re.split(r"(?<=[.!?\"])([ \n])(?=[A-Z\"])", story)  # text, space, text, space, ...
    n = len(sentences) // 2 + 1
    if n < 8:
        return None
    cut = 2 * rng.randint(n // 3, 2 * n // 3)
    first, second = "".join(sentences[: cut - 1]), "".join(sentences[cut:])
    facts = find_facts(story)
    chosen = subject(facts, rng)
    begin = chosen is not None and rng.random() < 0.3
    ask = fill(BEGIN, chosen, rng) if begin else request(story, facts, rng)
    return [("user", ask, False), ("assistant", first, begin), ("user", rng.choice(options(NEXT)), False), ("assistant", second, True)]


def small_talk(rng: random.Random) -> list[Message]:
    asks, answer = rng.choice(list(SMALL_TALK.items()))
    return [("user", rng.choice(asks.split("|")), False), ("assistant", answer, True)]


def converse(stories: list[str], rng: random.Random) -> list[list[Message]]:
    """Every story once, in random order: 68 % alone, 24 % in pairs, 8 % told in two halves, and a little small talk."""
    order = stories[:]
    rng.shuffle(order)
    out: list[list[Message]] = []
    while order:
        story, roll = order.pop(), rng.random()
        if roll < 0.14 and order and len(story) + len(order[-1]) < 2800:
            second = order.pop()
            out.append(followed_by(story, second, rng))
            if rng.random() < 0.1:
                ask = [("user", "Thank you!", False), ("assistant", list(SMALL_TALK.values())[3], True)]
                out[-1] += ask
        elif roll < 0.22:
            out.append(continued(story, rng) or single(story, rng))
        else:
            out.append(single(story, rng))
    out += [small_talk(rng) for _ in range(len(stories) // 80)]
    return out
