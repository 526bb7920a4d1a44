"""Prints answers to a few prompts: greedy or with a temperature, without a cache, all prompts in one batch."""

import torch
from tokenizers import Tokenizer

from model import Llama
from tokenizer import CONTEXT, IM_END, IM_START

PROMPTS = [
    [("user", "Tell me a story about a brave cat")],
    [("user", "Write a short story about a dragon who is afraid of the dark.")],
    [("user", "Tell me a story about Lily and her lost ball.")],
    [("user", "Can you tell me a story about a little robot?")],
    [("user", "A story about two friends at the beach, please.")],
    [("user", "Tell me a bedtime story about a sleepy owl.")],
    [("user", "Tell me a story.")],
    [("user", "Hello!")],
]


def render(messages: list[tuple[str, str]]) -> str:
    return "".join(f"{IM_START}{role}\n{text}{IM_END}\n" for role, text in messages) + f"{IM_START}assistant\n"


@torch.no_grad()
def answer(model: Llama, tokenizer: Tokenizer, prompts, temperature: float, max_tokens: int = 400, seed: int = 0) -> list[str]:
    """Answers prompts of different lengths in one batch. Row b grows from its own length; tokens to the right are never attended to."""
    device = next(model.parameters()).device
    generator = torch.Generator(device).manual_seed(seed)
    stops = {tokenizer.token_to_id(t) for t in (IM_END, "<|endoftext|>")}
    ids = [tokenizer.encode(render(p)).ids for p in prompts]
    length = torch.tensor([len(i) for i in ids], device=device)
    tokens = torch.zeros(len(ids), min(CONTEXT, max(map(len, ids)) + max_tokens), dtype=torch.long, device=device)
    for b, row in enumerate(ids):
        tokens[b, : len(row)] = torch.tensor(row)
    done = torch.zeros(len(ids), dtype=torch.bool, device=device)
    every = torch.arange(len(ids), device=device)
    while not done.all() and int(length.max()) < tokens.shape[1]:
        logits = model(tokens[:, : int(length.max())])[every, length - 1].float()
        if temperature == 0:
            chosen = logits.argmax(-1)
        else:
            chosen = torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator)[:, 0]
        tokens[every, length] = torch.where(done, tokens[every, length], chosen)
        stopped = torch.isin(chosen, torch.tensor(sorted(stops), device=device))
        length = length + (~done & ~stopped).long()
        done |= stopped
    return [tokenizer.decode(tokens[b, len(row) : length[b]].tolist()) + ("" if done[b] else " [cut]") for b, row in enumerate(ids)]
