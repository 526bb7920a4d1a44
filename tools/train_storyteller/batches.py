"""Token rows from text: three streams (books, tales, chat), each an endless sequence of epochs, each epoch retold.

    row      1024 tokens of one or more documents, int16
    doc      index of the token's document in its row; attention stays within a document, 255 is padding
    learn    1 if the token is to be predicted
"""

import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

import conversations
import data
from augment import retell
from tokenizer import CONTEXT, END_OF_TEXT, IM_END, IM_START

PADDING = 255
Document = tuple[list[int], list[int]]  # ids, learn
SYSTEM = ["You are a storyteller.", "You tell short stories for children.", "You are a helpful assistant.", "Write simple, friendly stories."]


@dataclass
class Rows:
    row: np.ndarray
    doc: np.ndarray
    learn: np.ndarray


def encode_tales(stories: list[str], tokenizer: Tokenizer) -> list[Document]:
    texts = [END_OF_TEXT + s + END_OF_TEXT for s in stories]
    return [(e.ids, [0] + [1] * (len(e.ids) - 1)) for e in tokenizer.encode_batch(texts)]


def encode_chat(chats: list[list[conversations.Message]], tokenizer: Tokenizer) -> list[Document]:
    """Encodes pieces separately. The ids equal those of the whole text, because each piece ends in a newline or a special token."""
    pieces = []
    for messages in chats:
        for role, text, _ in messages:
            pieces += [f"{IM_START}{role}\n", f"{text}{IM_END}", "\n"]
    encoded = iter(tokenizer.encode_batch(pieces))
    documents = []
    for messages in chats:
        ids, learn = [], []
        for role, _, wanted in messages:
            for part in range(3):
                piece = next(encoded).ids
                ids += piece
                learn += [int(wanted and part == 1)] * len(piece)
        documents.append((ids, learn))
    return documents


def encode_books(books: list[str], tokenizer: Tokenizer, rng: random.Random) -> list[Document]:
    """Cuts books into windows at a random offset, different in each epoch."""
    documents = []
    for encoded in tokenizer.encode_batch(books):
        ids = encoded.ids
        for start in range(rng.randint(0, 200), len(ids) - 64, CONTEXT):
            window = ids[start : start + CONTEXT]
            documents.append((window, [1] * len(window)))
    return documents


def pack(documents: list[Document], rng: random.Random, length: int = CONTEXT) -> Rows:
    """Packs documents first-fit into the 64 latest rows: little padding, and no document is cut."""
    rng.shuffle(documents)
    bins: list[list[Document]] = []
    room: list[int] = []
    for document in documents:
        size = len(document[0])
        if size > length:
            document, size = (document[0][:length], document[1][:length]), length
        for i in range(max(0, len(bins) - 64), len(bins)):
            if room[i] >= size:
                bins[i].append(document)
                room[i] -= size
                break
        else:
            bins.append([document])
            room.append(length - size)
    rows = Rows(*(np.full((len(bins), length), fill, kind) for fill, kind in ((0, np.int16), (PADDING, np.uint8), (0, np.uint8))))
    for i, content in enumerate(bins):
        at = 0
        for n, (ids, learn) in enumerate(content):
            rows.row[i, at : at + len(ids)] = ids
            rows.doc[i, at : at + len(ids)] = n
            rows.learn[i, at : at + len(ids)] = learn
            at += len(ids)
    return rows


def with_system(chat: list[conversations.Message], rng: random.Random) -> list[conversations.Message]:
    return [("system", rng.choice(SYSTEM), False), *chat] if rng.random() < 0.04 else chat


def build_epoch(corpus: data.Corpus, tokenizer: Tokenizer, kind: str, seed: int, retelling: bool = True) -> Rows:
    rng = random.Random(f"{kind} {seed}")
    if kind == "books":
        return pack(encode_books(corpus.books, tokenizer, rng), rng)
    stories = corpus.stories if kind == "tales" else [s for s in corpus.stories if data.fits_chat(s)]
    if retelling and seed > 0:  # epoch 0 is the text as it is
        stories = [retell(s, rng) for s in stories]
    if kind == "tales":
        return pack(encode_tales(stories, tokenizer), rng)
    chats = [with_system(c, rng) for c in conversations.converse(stories, rng)]
    return pack(encode_chat(chats, tokenizer), rng)


def held_out_documents(corpus: data.Corpus, tokenizer: Tokenizer) -> dict[str, list[Document]]:
    rng = random.Random("held out")
    chats = [conversations.single(s, rng) for s in corpus.held_out if data.fits_chat(s)]
    return {"tales": encode_tales(corpus.held_out, tokenizer), "chat": encode_chat(chats, tokenizer)}


def build_held_out(corpus: data.Corpus, tokenizer: Tokenizer) -> dict[str, Rows]:
    rng = random.Random("held out rows")
    return {kind: pack(documents, rng) for kind, documents in held_out_documents(corpus, tokenizer).items()}


def save(rows: Rows, path: Path) -> None:
    np.savez(path, row=rows.row, doc=rows.doc, learn=rows.learn)
