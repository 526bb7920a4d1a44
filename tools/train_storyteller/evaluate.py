"""Perplexity on held-out stories and sample answers of the shipped folder, by transformers in float32 on the Q8_0 weights.

    python3 evaluate.py --text TEXT_FOLDER --model public/models/storyteller > evaluation.md
"""

import argparse
import json
import math
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

import batches
import data
import sample

PROMPTS = [
    "Tell me a story about a brave cat",
    "Tell me a bedtime story about a sleepy bear.",
    "Write a short story about a kind dragon.",
    "Tell me a story about Lily and her lost ball.",
    "Can you tell me a story about a bird who wanted to fly?",
]
FOLLOW_UPS = ["Tell me another story about a red balloon.", "What happened next?"]


@torch.no_grad()
def mean_loss(model, documents: list[batches.Document]) -> tuple[float, int]:
    """Nats per learned token, one document at a time."""
    total, count = 0.0, 0
    for ids, learn in documents:
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, :-1]
        weight = torch.tensor(learn[1:])
        total += float((F.cross_entropy(logits, torch.tensor(ids[1:]), reduction="none") * weight).sum())
        count += int(weight.sum())
    return total / count, count


@torch.no_grad()
def answer(model, tokenizer: Tokenizer, messages, temperature: float, stop: list[int], seed: int = 0, max_tokens: int = 400) -> str:
    generator = torch.Generator().manual_seed(seed)
    step, cache, out = torch.tensor([tokenizer.encode(sample.render(messages)).ids]), None, []
    while len(out) < max_tokens:
        result = model(input_ids=step, past_key_values=cache, use_cache=True)
        cache, logits = result.past_key_values, result.logits[0, -1]
        if temperature == 0:
            token = int(logits.argmax())
        else:
            token = int(torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator))
        if token in stop:
            return tokenizer.decode(out)
        out.append(token)
        step = torch.tensor([[token]])
    return tokenizer.decode(out) + " [cut]"


def quote(text: str) -> str:
    return "\n".join("> " + line + "  " for line in text.splitlines())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    args = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    stop = json.loads((args.model / "generation_config.json").read_text())["eos_token_id"]
    model = AutoModelForCausalLM.from_pretrained(args.model, gguf_file="storyteller-q8_0.gguf", dtype=torch.float32).eval()
    held_out = batches.held_out_documents(data.load(args.text), tokenizer)
    for kind, documents in held_out.items():
        loss, count = mean_loss(model, documents)
        print(f"{kind}: {loss:.4f} nats per token, perplexity {math.exp(loss):.3f}, {count} tokens of {len(documents)} stories\n")
    for prompt in PROMPTS:
        for temperature in (0, 0.8):
            text = answer(model, tokenizer, [("user", prompt)], temperature, stop)
            print(f"**{prompt}** (temperature {temperature})\n\n{quote(text)}\n")
    first = [("user", PROMPTS[0])]
    first.append(("assistant", answer(model, tokenizer, first, 0, stop)))
    for follow_up in FOLLOW_UPS:
        print(f"**{follow_up}** (after the first answer, temperature 0)\n\n{quote(answer(model, tokenizer, [*first, ('user', follow_up)], 0, stop))}\n")
    ended = [not answer(model, tokenizer, [("user", PROMPTS[i % 5])], 0.8, stop, seed=i).endswith("[cut]") for i in range(20)]
    print(f"{sum(ended)} of {len(ended)} answers at temperature 0.8 ended by themselves within 400 tokens")


if __name__ == "__main__":
    main()
