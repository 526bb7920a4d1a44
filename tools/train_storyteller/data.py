"""Reads stories and books, cleans them, and splits stories into training and held-out ones.

It knows files and text, and must not know tokens or conversations.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

SEPARATOR = "<|endoftext|>"
PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "...", "\u00a0": " ", "\t": " "})
HELD_OUT_ONE_IN = 32

# Chat stories are for small children. Other texts of the corpora stay in the language-model phase.
DARK = re.compile(
    r"\b(kill\w*|murder\w*|gun|guns|blood\w*|corpse|suicide|hang(?:ed|ing) (?:him|her)|stab\w*|die|dies|died|dying|dead|death|"
    r"knife|drown\w*|devil|hell|slave\w*|beer|wine|drunk|cigar\w*|weapon\w*|shot|rape\w*|naked|hate[sd]?|stupid|poison\w*)\b",
    re.IGNORECASE,
)


@dataclass
class Corpus:
    stories: list[str]  # short modern stories, for both phases
    books: list[str]  # long or older text, for the language-model phase only
    held_out: list[str]  # short stories outside of all training


def clean(text: str) -> str:
    """One paragraph per line, straight quotes, and no line breaks within sentences."""
    lines = [re.sub(r" +", " ", line).strip() for line in text.translate(PLAIN).splitlines()]
    paragraphs: list[str] = []
    for line in filter(None, lines):
        if paragraphs and line[0].islower() and paragraphs[-1][-1] not in '.!?"':
            paragraphs[-1] += " " + line
        else:
            paragraphs.append(line)
    return "\n".join(paragraphs)


def is_held_out(story: str) -> bool:
    return int(hashlib.sha1(story.encode()).hexdigest(), 16) % HELD_OUT_ONE_IN == 0


def split_stories(path: Path) -> list[str]:
    return [clean(s) for s in path.read_text(encoding="utf-8").split(SEPARATOR) if s.strip()]


def load(folder: Path) -> Corpus:
    tiny = split_stories(folder / "tinystories.txt")
    modern = split_stories(folder / "african-storybook_en_ccby.txt") + split_stories(folder / "pratham-books_en_ccby.txt")
    modern = [s for s in modern if len(s) > 150]
    books = split_stories(folder / "fairytaleqa_278_stories.txt")
    books += [clean(p.read_text(encoding="utf-8")) for p in sorted((folder / "gutenberg_children").glob("*.txt"))]
    return Corpus(
        stories=[s for s in tiny if not is_held_out(s)] + modern,
        books=books,
        held_out=[s for s in tiny if is_held_out(s)],
    )


def fits_chat(story: str) -> bool:
    """True for stories that are short enough for an answer, end like a story, are not dark, and are prose."""
    n_words = len(story.split())
    sentences_a_line = n_words / (story.count("\n") + 1)
    return 40 <= n_words <= 300 and sentences_a_line >= 8 and story[-1] in '.!?"' and not DARK.search(story)
