"""Greedy decoding by the reference implementation, in the simplest form: no cache, no generate(), one argmax."""

import torch


@torch.no_grad()
def greedy(model, prompt: list[int], n_tokens: int, stop: tuple[int, ...] = ()) -> tuple[list[int], list[float]]:
    """Returns the ids and, for each, the logit difference between the best and the second best token.

    At a small margin a correct float32 engine may pick the other token, since rounding decides.
    """
    ids, margins = list(prompt), []
    for _ in range(n_tokens):
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1]
        best = torch.topk(logits, 2)
        ids.append(int(best.indices[0]))
        margins.append(round(float(best.values[0] - best.values[1]), 5))
        if ids[-1] in stop:
            break
    return ids[len(prompt) :], margins
