"""Tiny random models of every architecture that is not plain LLaMA, and of every kind of RoPE scaling.

Each folder holds a checkpoint in Hugging Face layout, `config.json` in the spelling of transformers 5, `config.classic.json`
in the spelling of older checkpoints (and of most files on the hub), and the outputs of transformers: see README.md.
`without` names settings whose omission must move the logits, which proves that each feature matters.

All sequences run at the full 48 positions with padding at the end, since dynamic and longrope scaling depend on the length.
An engine with a context of 48 must agree at every position.
"""

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, CONFIG_MAPPING

POSITIONS = 48
PROMPT = 8
GREEDY = 32

SMALL = dict(
    vocab_size=131, hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
    max_position_embeddings=256, rms_norm_eps=1e-5, bos_token_id=1, eos_token_id=2, pad_token_id=0,
)  # fmt: skip

PLAIN_ROPE = {"rope_type": "default", "rope_theta": 10000.0}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32}


def longrope(original: int, rotary_dim: int) -> dict:
    pairs = rotary_dim // 2
    return {
        "rope_type": "longrope",
        "rope_theta": 10000.0,
        "short_factor": [1.0 + 0.05 * j for j in range(pairs)],
        "long_factor": [1.5 + 0.75 * j for j in range(pairs)],
        "original_max_position_embeddings": original,
    }


# name -> (model_type, settings, settings to omit and their substitutes)
MODELS = {
    "llama_linear": ("llama", dict(rope_parameters={**PLAIN_ROPE, "rope_type": "linear", "factor": 4.0}), dict(rope_parameters=PLAIN_ROPE)),
    "llama_dynamic": (
        "llama",
        dict(max_position_embeddings=32, rope_parameters={**PLAIN_ROPE, "rope_type": "dynamic", "factor": 4.0}),
        dict(rope_parameters=PLAIN_ROPE),
    ),
    "llama_yarn": ("llama", dict(rope_parameters=YARN), dict(rope_parameters=PLAIN_ROPE)),
    "mistral_window": ("mistral", dict(head_dim=32, sliding_window=12, rope_parameters=PLAIN_ROPE), dict(sliding_window=None)),
    "qwen2": ("qwen2", dict(tie_word_embeddings=True, rope_parameters={**PLAIN_ROPE, "rope_theta": 1e6}), dict(rope_parameters=PLAIN_ROPE)),
    "qwen2_window": (
        "qwen2",
        dict(use_sliding_window=True, sliding_window=12, max_window_layers=1, rope_parameters=YARN),
        dict(use_sliding_window=False),
    ),
    "qwen3": ("qwen3", dict(head_dim=32, tie_word_embeddings=True, rope_parameters={**PLAIN_ROPE, "rope_theta": 1e6}), dict(rope_parameters=PLAIN_ROPE)),
    "smollm3": (
        "smollm3",
        dict(num_hidden_layers=4, no_rope_layers=[1, 0, 1, 0], tie_word_embeddings=True, rope_parameters={**PLAIN_ROPE, "rope_theta": 2e6}),
        dict(no_rope_layers=[1, 1, 1, 1]),
    ),
    "gemma2": (
        "gemma2",
        dict(head_dim=32, sliding_window=12, query_pre_attn_scalar=24, attn_logit_softcapping=4.0, final_logit_softcapping=1.0, rope_parameters=PLAIN_ROPE),
        dict(attn_logit_softcapping=None),
    ),
    "gemma3": (
        "gemma3_text",
        dict(
            head_dim=32, sliding_window=12, query_pre_attn_scalar=24, num_hidden_layers=4,
            layer_types=["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"],
            rope_parameters={
                "sliding_attention": PLAIN_ROPE,
                "full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0},
            },
        ),
        dict(rope_parameters={"sliding_attention": PLAIN_ROPE, "full_attention": PLAIN_ROPE}),
    ),
    "phi3_window": ("phi3", dict(sliding_window=12, rope_parameters=PLAIN_ROPE), dict(sliding_window=None)),
    "phi3_longrope_short": (
        "phi3",
        dict(original_max_position_embeddings=64, hidden_size=96, num_attention_heads=3, num_key_value_heads=1, tie_word_embeddings=True,
             rope_parameters={**longrope(64, 24), "partial_rotary_factor": 0.75}),
        dict(rope_parameters={**PLAIN_ROPE, "partial_rotary_factor": 0.75}),
    ),
    "phi3_longrope_long": ("phi3", dict(original_max_position_embeddings=32, rope_parameters=longrope(32, 16)), dict(rope_parameters=PLAIN_ROPE)),
    "granite": (
        "granite",
        dict(embedding_multiplier=1.5, attention_multiplier=0.4, residual_multiplier=0.6, logits_scaling=4.0, tie_word_embeddings=True, rope_parameters=PLAIN_ROPE),
        dict(residual_multiplier=1.0),
    ),
    "olmo2": ("olmo2", dict(rope_parameters={**PLAIN_ROPE, "rope_theta": 5e5}), dict(rope_parameters=PLAIN_ROPE)),
}  # fmt: skip

# Keys of transformers 5 that older checkpoints spell differently or lack.
NEW_KEYS = ["rope_parameters", "transformers_version", "dtype", "layer_types"]


def build(model_type: str, settings: dict):
    config = CONFIG_MAPPING[model_type](**{**SMALL, **settings})
    config._attn_implementation = "eager"
    return AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()


@torch.no_grad()
def randomise(model, seed: int) -> None:
    """Weights so large that a wrong norm, bias, rotation or mask moves the logits far more than rounding does."""
    generator = torch.Generator().manual_seed(seed)
    is_gemma = model.config.model_type.startswith("gemma")
    offset = 0.0 if is_gemma else 1.0  # Gemma multiplies by 1 + weight
    tied_gain = 0.1 if is_gemma else 0.3  # and embeddings by sqrt(hidden): so a tied head would repeat its input forever
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if name.endswith("bias"):
            parameter.copy_(0.5 * noise)
        elif parameter.dim() == 1:
            parameter.copy_(offset + 0.3 * noise)
        elif "embed_tokens" in name:
            parameter.copy_((tied_gain if model.config.tie_word_embeddings else 1.0) * noise)
        else:
            gain = 2.0 if "q_proj" in name or "lm_head" in name else 1.5
            parameter.copy_(gain * noise / parameter.shape[1] ** 0.5)


def classic_config(config: dict) -> dict:
    """The same settings in the spelling of checkpoints before transformers 5."""
    classic = {key: value for key, value in config.items() if key not in NEW_KEYS}
    classic["torch_dtype"] = config["dtype"]
    rope = config["rope_parameters"]
    if "full_attention" in rope:  # Gemma 3
        classic["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        classic["sliding_window_pattern"] = 3
        rope = rope["full_attention"]
    rope = dict(rope)
    classic["rope_theta"] = rope.pop("rope_theta")
    if "partial_rotary_factor" in rope:
        classic["partial_rotary_factor"] = rope.pop("partial_rotary_factor")
    if rope["rope_type"] == "longrope":
        classic["original_max_position_embeddings"] = rope.pop("original_max_position_embeddings")
        rope["type"] = rope.pop("rope_type")
    classic["rope_scaling"] = None if rope.get("rope_type") == "default" else rope
    return dict(sorted(classic.items()))


@torch.no_grad()
def logits_of(model, ids: list[int]) -> torch.Tensor:
    """(len(ids), vocab) logits of a pass over POSITIONS tokens. `ids` is followed by padding that no token attends to."""
    padded = ids + [0] * (POSITIONS - len(ids))
    return model(input_ids=torch.tensor([padded]), use_cache=False).logits[0, : len(ids)].float().contiguous()


def greedy(model, prompt: list[int], n_tokens: int) -> tuple[list[int], list[float]]:
    """reference.greedy, always at the length of POSITIONS."""
    ids, margins = list(prompt), []
    for _ in range(n_tokens):
        best = torch.topk(logits_of(model, ids)[-1], 2)
        ids.append(int(best.indices[0]))
        margins.append(round(float(best.values[0] - best.values[1]), 5))
    return ids[len(prompt) :], margins


def write_json(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


def write_architecture_fixtures(out: Path) -> None:
    for seed, (name, (model_type, settings, without)) in enumerate(MODELS.items()):
        folder = out / name
        shutil.rmtree(folder, ignore_errors=True)
        model = build(model_type, settings)
        randomise(model, 1000 + seed)
        model.to(torch.bfloat16).save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)

        # The reference computes in float32 from the rounded weights.
        stored = load_file(folder / "model.safetensors")
        reference = build(model_type, settings)
        missing, unexpected = reference.load_state_dict({k: v.float() for k, v in stored.items()}, strict=False)
        assert not unexpected and all("lm_head" in key for key in missing), (missing, unexpected)
        reference.tie_weights()
        config = reference.config.to_dict()
        config["dtype"] = "bfloat16"
        written = json.loads((folder / "config.json").read_text())
        write_json(folder / "config.classic.json", classic_config(written))

        ids = torch.randint(3, SMALL["vocab_size"], (POSITIONS,), generator=torch.Generator().manual_seed(100 + seed))
        logits = logits_of(reference, ids.tolist())
        ablated = build(model_type, {**settings, **without})
        ablated.load_state_dict(reference.state_dict())
        moved = (logits_of(ablated, ids.tolist()) - logits).abs().max()
        assert moved > 0.05, f"{name}: leaving out {list(without)} moves logits by {moved} only"
        save_file({"input_ids": ids.to(torch.int32), "logits": logits}, folder / "expected.safetensors")

        prompt = ids[:PROMPT].tolist()
        chosen, margins = greedy(reference, prompt, GREEDY)
        (folder / "greedy.json").write_text(json.dumps({"promptIds": prompt, "ids": chosen, "margins": margins}) + "\n")
        for file in folder.iterdir():
            file.chmod(0o644)
        size = sum(tensor.numel() * 2 for tensor in stored.values())
        print(
            f"{name}: {size} weight bytes, logit std {logits.std():.2f}, {len(set(chosen))} distinct ids, "
            f"least margin {min(margins)}, without {list(without)} {moved:.2f}"
        )
