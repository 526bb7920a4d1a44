"""One training run: reads streams of token rows, and writes the weights with the lowest held-out loss.

    python3 train.py --rows ROWS_FOLDER --out RUN.pt [--steps 3000 --layers 8 --dropout 0.1 ...] [--teachers A.pt B.pt]

With teachers, the student also learns their mean distribution on the same rows (knowledge distillation). Several regularized
models agree on the general content of a small corpus and disagree on details that each has memorized.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor

import sample
from batches import PADDING
from model import Config, Llama

# (end as a fraction of the run, shares of books, tales and chat rows): first language, then conversation
MIX = [(0.35, {"books": 0.55, "tales": 0.15, "chat": 0.30}), (1.0, {"books": 0.0, "tales": 0.10, "chat": 0.90})]
MIX_NO_BOOKS = [(1.0, {"books": 0.0, "tales": 0.2, "chat": 0.8})]


class Stream:
    """The rows of one stream, epoch by epoch, each in a new order. The first epoch follows the last prepared one."""

    def __init__(self, folder: Path, kind: str, epochs: int, device: str, generator: torch.Generator):
        files = sorted(folder.glob(f"{kind}_*.npz"))[:epochs]
        assert files, f"no {kind}_*.npz in {folder}"
        self.epochs = [load_rows(f, device) for f in files]
        self.device, self.generator, self.at, self.order, self.taken = device, generator, -1, torch.empty(0, dtype=torch.long), 0

    def take(self, n: int) -> list[Tensor]:
        if len(self.order) < n:
            self.at = (self.at + 1) % len(self.epochs)
            self.order = torch.randperm(len(self.epochs[self.at][0]), generator=self.generator)
        chosen, self.order = self.order[:n].to(self.device), self.order[n:]
        self.taken += n
        return [part[chosen] for part in self.epochs[self.at]]


def load_rows(path: Path, device: str) -> list[Tensor]:
    arrays = np.load(path)
    return [torch.from_numpy(arrays[name]).to(device) for name in ("row", "doc", "learn")]


def next_batch(streams: dict[str, Stream], mix: dict[str, float], rows: int, rng: np.random.Generator) -> list[Tensor]:
    kinds = list(mix)
    counts = rng.multinomial(rows, [mix[k] for k in kinds])
    parts = [streams[k].take(int(n)) for k, n in zip(kinds, counts) if n]
    return [torch.cat(p) for p in zip(*parts)]


def targets_of(row: Tensor, doc: Tensor, learn: Tensor) -> tuple[Tensor, Tensor]:
    """The next token of the same document, and 1 if it counts."""
    target = torch.roll(row, -1, dims=1).long()
    weight = (torch.roll(learn, -1, dims=1) > 0) & (torch.roll(doc, -1, dims=1) == doc) & (doc != PADDING)
    weight[:, -1] = False
    return target, weight


@torch.no_grad()
def held_out_loss(model, rows: list[Tensor], device: str) -> float:
    model.eval()
    total, count = 0.0, 0
    row, doc, learn = rows
    target, weight = targets_of(row, doc, learn)
    for i in range(0, len(row), 32):
        # repeats the last rows to keep the compiled batch shape; the repeats do not count
        pick = torch.arange(i, i + 32, device=row.device).clamp(max=len(row) - 1)
        counted = weight[pick] & (torch.arange(i, i + 32, device=row.device) < len(row))[:, None]
        with torch.autocast(device, torch.bfloat16):
            logits = model(row[pick].long(), doc[pick])
        loss = F.cross_entropy(logits.float().flatten(0, 1), target[pick].flatten(), reduction="none")
        total += float((loss * counted.flatten()).sum())
        count += int(counted.sum())
    model.train()
    return total / count


def make_optimizers(model: Llama, args) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for the embedding and the norms; or AdamW for all."""
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and "embed" not in n]
    embedding = [p for n, p in model.named_parameters() if "embed" in n]
    norms = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": embedding, "weight_decay": args.weight_decay}, {"params": norms, "weight_decay": 0.0}]
    fused = torch.cuda.is_available()
    if args.optimizer == "muon":
        muon = torch.optim.Muon(matrices, lr=args.lr, weight_decay=args.weight_decay, momentum=0.95, adjust_lr_fn="match_rms_adamw")
        return [muon, torch.optim.AdamW(groups, lr=args.lr, betas=(0.9, 0.95), fused=fused)]
    groups.append({"params": matrices, "weight_decay": args.weight_decay})
    return [torch.optim.AdamW(groups, lr=args.lr, betas=(0.9, 0.95), fused=fused)]


def load_model(path: Path, device: str) -> Llama:
    saved = torch.load(path, map_location=device, weights_only=True)
    model = Llama(Config(**saved["config"])).to(device)
    model.load_state_dict(saved["state"])
    return model.eval()


def distil_loss(logits: Tensor, teacher_mean: Tensor, weight: Tensor) -> Tensor:
    """Cross entropy against the teachers' mean distribution (KL up to a constant)."""
    return -((teacher_mean * F.log_softmax(logits, -1)).sum(-1) * weight).sum() / weight.sum()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="ends the schedule early on a machine that is too slow for --steps")
    parser.add_argument("--batch", type=int, default=32, help="rows of 1024 tokens")
    parser.add_argument("--hidden", type=int, default=384)
    parser.add_argument("--intermediate", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--heads", type=int, default=6)
    parser.add_argument("--kv-heads", type=int, default=2)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--weight-decay", type=float, default=0.1)
    parser.add_argument("--optimizer", choices=["adamw", "muon"], default="muon")
    parser.add_argument("--chat-epochs", type=int, default=99, help="prepared epochs to use; 1 is training without retelling")
    parser.add_argument("--no-books", action="store_true")
    parser.add_argument("--teachers", type=Path, nargs="*", default=[])
    parser.add_argument("--distil", type=float, default=0.7, help="share of the teachers in the loss")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--evaluations", type=int, default=12)
    parser.add_argument("--eager", action="store_true", help="no torch.compile")
    return parser.parse_args()


def main() -> None:
    args = parse()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(args.seed)
    torch.set_float32_matmul_precision("high")
    tokenizer = Tokenizer.from_file(str(args.rows / "tokenizer.json"))
    config = Config(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=args.hidden, intermediate_size=args.intermediate, num_layers=args.layers,
        num_heads=args.heads, num_kv_heads=args.kv_heads, dropout=args.dropout,
    )  # fmt: skip
    model = Llama(config).to(device)
    n_params = sum(p.numel() for p in model.parameters())
    run = model if args.eager else torch.compile(model, dynamic=False)
    teachers = [load_model(t, device) for t in args.teachers]
    run_teachers = teachers if args.eager else [torch.compile(t, dynamic=False) for t in teachers]
    optimizers = make_optimizers(model, args)
    generator = torch.Generator().manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    mixes = MIX_NO_BOOKS if args.no_books else MIX
    kinds = {k for _, mix in mixes for k, share in mix.items() if share}
    streams = {k: Stream(args.rows, k, args.chat_epochs, device, generator) for k in sorted(kinds)}
    held_out = {k: load_rows(args.rows / f"held_out_{k}.npz", device) for k in ("tales", "chat")}

    best, best_state, history = math.inf, None, []
    started = time.time()
    warmup, mean_loss, next_evaluation, step, progress = 0.03, None, 1, 0, 0.0
    while progress < 1.0:
        progress = max(step / args.steps, (time.time() - started) / args.seconds)
        lr = args.lr * min(1.0, progress / warmup + 0.02) * max(0.0, 1.0 - progress)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = lr
        mix = next(m for until, m in mixes if progress <= until or until == 1.0)
        row, doc, learn = next_batch(streams, {k: v for k, v in mix.items() if v}, args.batch, rng)
        target, weight = targets_of(row, doc, learn)
        tokens = row.long()
        with torch.autocast(device, torch.bfloat16):
            logits = run(tokens, doc).float()
        cross = F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none").view_as(weight)
        loss = (cross * weight).sum() / weight.sum()
        if teachers:
            with torch.no_grad(), torch.autocast(device, torch.bfloat16):
                teacher_mean = sum(torch.softmax(t(tokens, doc).float(), -1) for t in run_teachers) / len(teachers)
            loss = (1 - args.distil) * loss + args.distil * distil_loss(logits, teacher_mean, weight)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        if step % 20 == 0:
            mean_loss = float(loss.detach())
            assert math.isfinite(mean_loss), f"loss is {mean_loss} at step {step}"
        step += 1
        if progress * args.evaluations >= next_evaluation or progress >= 1.0:
            next_evaluation = int(progress * args.evaluations) + 1
            losses = {k: round(held_out_loss(run, rows, device), 4) for k, rows in held_out.items()}
            record = {"step": step, "seconds": round(time.time() - started), "train": round(mean_loss, 4), **losses}
            history.append(record)
            print(args.out.stem, json.dumps(record), flush=True)
            if losses["chat"] < best:
                best = losses["chat"]
                best_state = {k: v.detach().clone() for k, v in model.state_dict().items()}

    model.load_state_dict(best_state)
    model.eval()
    rows_seen = {k: s.taken for k, s in streams.items()}
    epochs = {k: round(s.taken / len(s.epochs[0][0]), 1) for k, s in streams.items()}
    summary = {"name": args.out.stem, "parameters": n_params, "best_chat": best, "rows": rows_seen, "epochs": epochs,
               "args": {k: str(v) for k, v in vars(args).items()}, "history": history}  # fmt: skip
    torch.save({"config": config.asdict(), "state": best_state, "summary": json.dumps(summary)}, args.out)
    args.out.with_suffix(".json").write_text(json.dumps(summary))
    print(f"{args.out.stem}: {n_params} parameters, best held-out chat loss {best:.4f}, epochs {epochs}, {time.time() - started:.0f} s", flush=True)
    with torch.autocast(device, torch.bfloat16):
        texts = sample.answer(model, tokenizer, sample.PROMPTS[:4], temperature=0)
    args.out.with_suffix(".txt").write_text("\n\n".join(f"> {p[-1][1]}\n{t}" for p, t in zip(sample.PROMPTS, texts)) + "\n")


if __name__ == "__main__":
    main()
