"""Trains the tokenizer on a text folder and writes the token rows of every epoch of every stream to one folder.

    python3 prepare.py --text TEXT_FOLDER --out ROWS_FOLDER [--chat-epochs 24 --tales-epochs 8 --books-epochs 3]
"""

import argparse
import time
from multiprocessing import Pool
from pathlib import Path

from tokenizers import Tokenizer

import batches
import data
import tokenizer as tok


def build(job: tuple[Path, Path, str, int, bool]) -> str:
    text, out, kind, seed, retelling = job
    tokenizer = Tokenizer.from_file(str(out / "tokenizer.json"))
    rows = batches.build_epoch(data.load(text), tokenizer, kind, seed, retelling)
    batches.save(rows, out / f"{kind}_{seed:02}.npz")
    filled = (rows.doc != batches.PADDING).mean()
    return f"{kind} {seed}: {len(rows.row)} rows, {filled:.3f} filled, {rows.learn.sum()} tokens to learn"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--chat-epochs", type=int, default=24)
    parser.add_argument("--tales-epochs", type=int, default=8)
    parser.add_argument("--books-epochs", type=int, default=3)
    parser.add_argument("--processes", type=int, default=16)
    args = parser.parse_args()
    started = time.time()
    args.out.mkdir(parents=True, exist_ok=True)
    corpus = data.load(args.text)
    tokenizer = tok.train(corpus.stories)
    tok.save(tokenizer, args.out)
    for kind, rows in batches.build_held_out(corpus, tokenizer).items():
        batches.save(rows, args.out / f"held_out_{kind}.npz")
    # one epoch without retelling, as the control of the sweep
    jobs = [(args.text, args.out, "chat", i, True) for i in range(args.chat_epochs)]
    jobs += [(args.text, args.out, "tales", i, True) for i in range(args.tales_epochs)]
    jobs += [(args.text, args.out, "books", i, True) for i in range(args.books_epochs)]
    with Pool(args.processes) as pool:
        for line in pool.imap_unordered(build, jobs):
            print(line)
    print(f"prepared in {time.time() - started:.0f} s")


if __name__ == "__main__":
    main()
