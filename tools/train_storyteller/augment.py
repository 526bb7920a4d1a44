"""Retells a story with other names, colors and animals, so that each epoch over few stories teaches something new.

Retelling also teaches the model to take the subject of a story from the request, not from habit.
"""

import random
import re

from lexicon import ANIMALS, BOYS, COLORS, GIRLS, PETS, SWAPPABLE, TELLING

NAME_POOLS = [GIRLS, BOYS, PETS]
POOL_OF = {name: pool for pool in NAME_POOLS for name in pool}
NAME = re.compile(r"\b(" + "|".join(sorted(POOL_OF, key=len, reverse=True)) + r")\b")
COLOR = re.compile(r"\b(" + "|".join(COLORS) + r")\b")
SINGULAR = {plural: singular for singular, plural in ANIMALS.items()}
ANIMAL = re.compile(r"\b(" + "|".join(sorted({*ANIMALS, *SINGULAR}, key=len, reverse=True)) + r")\b", re.IGNORECASE)
TELLS = re.compile(r"\b(" + "|".join(TELLING) + r")\b", re.IGNORECASE)
# things with only one color
FIXED_COLOR = re.compile(r"\b(sky|grass|sun|leaves|cloud|snow|banana|carrot|orange juice|oranges|light|chocolate)\b", re.IGNORECASE)


def like(word: str, model: str) -> str:
    return word.capitalize() if model[0].isupper() else word


def derange(found: list[str], pool: list[str], rng: random.Random, avoid: set[str]) -> dict[str, str]:
    """Maps every found word to another word of the pool, all different."""
    free = [w for w in pool if w not in avoid]
    rng.shuffle(free)
    return dict(zip(found, free))


def rename(story: str, rng: random.Random) -> str:
    found = sorted(set(NAME.findall(story)))
    mapping: dict[str, str] = {}
    for pool in NAME_POOLS:
        # the square root of a pool's order: frequent names stay frequent, rare ones are seen often enough to be learned
        ranked = sorted(pool, key=lambda name: (pool.index(name) + 1) ** 0.5 * rng.random())
        mapping |= dict(zip([n for n in found if POOL_OF[n] is pool], ranked))
    return NAME.sub(lambda m: mapping.get(m[0], m[0]), story)


def recolor(story: str, rng: random.Random) -> str:
    if FIXED_COLOR.search(story):
        return story
    found = sorted(set(COLOR.findall(story)))
    mapping = derange(found, COLORS, rng, set())
    story = COLOR.sub(lambda m: mapping[m[0]], story)
    return fix_articles(story, mapping.values())


def swap_animals(story: str, rng: random.Random) -> str:
    if TELLS.search(story):
        return story
    present = {SINGULAR.get(w.lower(), w.lower()) for w in ANIMAL.findall(story)}
    found = sorted(present & set(SWAPPABLE))
    if not found:
        return story
    mapping = derange(found, SWAPPABLE, rng, present)

    def replace(m: re.Match) -> str:
        word = m[0].lower()
        if word in mapping and word not in SINGULAR:
            return like(mapping[word], m[0])
        if SINGULAR.get(word) in mapping:
            return like(ANIMALS[mapping[SINGULAR[word]]], m[0])
        return like(mapping[word], m[0]) if word in mapping else m[0]

    return fix_articles(ANIMAL.sub(replace, story), mapping.values())


def fix_articles(story: str, words) -> str:
    for word in words:
        right = "an" if word[0] in "aeiou" else "a"
        story = re.sub(rf"\b([Aa])n? {word}\b", lambda m: like(right, m[1]) + " " + word, story)
    return story


def retell(story: str, rng: random.Random) -> str:
    if rng.random() < 0.5:
        story = rename(story, rng)
    if rng.random() < 0.3:
        story = recolor(story, rng)
    if rng.random() < 0.35:
        story = swap_animals(story, rng)
    return story
