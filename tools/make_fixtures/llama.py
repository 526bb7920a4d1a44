"""Tiny random LLaMA models in Hugging Face layout, each with the logits that transformers computes from the stored weights.

Together they cover: query groups of 1, 2, 3 and 4 heads, head dimensions 8, 32, 64 and 128 (given or left to hidden / heads),
tied and untied heads, biases, llama3 rope scaling, both spellings of the rope settings, F32 / F16 / BF16, one and two shards,
and an intermediate size that is not a multiple of 32.
"""

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

from reference import greedy

POSITIONS = 48
# 32 original positions: the 48 of a fixture reach past them, and wavelengths fall on both sides of the interpolation band.
LLAMA3_SCALING = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}

# head_dim None: the key is left out of config.json, as in older checkpoints.
# rope_keys: "classic" writes rope_theta and rope_scaling, "parameters" leaves config.json as transformers 5 wrote it.
MODELS = {
    "f16_group1_hd32_tied": dict(
        dtype="float16", vocab_size=331, hidden_size=64, intermediate_size=96, num_attention_heads=2, num_key_value_heads=2,
        head_dim=None, tie_word_embeddings=True, rope_theta=10000.0, rms_norm_eps=1e-6, rope_keys="classic",
    ),
    "f16_group3_hd32_bias_sharded": dict(
        dtype="float16", vocab_size=259, hidden_size=96, intermediate_size=32, num_attention_heads=3, num_key_value_heads=1,
        head_dim=32, tie_word_embeddings=False, rope_theta=500000.0, rms_norm_eps=1e-5, attention_bias=True,
        rope_keys="classic", shards=2,
    ),
    "bf16_group4_hd128_llama3": dict(
        dtype="bfloat16", vocab_size=259, hidden_size=32, intermediate_size=64, num_attention_heads=4, num_key_value_heads=1,
        head_dim=128, tie_word_embeddings=True, rope_theta=500000.0, rms_norm_eps=1e-5, rope_keys="classic",
        rope_scaling=LLAMA3_SCALING,
    ),
    "bf16_group1_hd64_rope_parameters": dict(
        dtype="bfloat16", vocab_size=331, hidden_size=32, intermediate_size=96, num_attention_heads=2, num_key_value_heads=2,
        head_dim=64, tie_word_embeddings=False, rope_theta=10000.0, rms_norm_eps=1e-6, rope_keys="parameters",
    ),
    "f32_group4_hd32_bias_llama3_rope_parameters": dict(
        dtype="float32", vocab_size=259, hidden_size=32, intermediate_size=32, num_attention_heads=4, num_key_value_heads=1,
        head_dim=32, tie_word_embeddings=True, rope_theta=10000.0, rms_norm_eps=1e-5, attention_bias=True,
        rope_keys="parameters", rope_scaling=LLAMA3_SCALING,
    ),
    # The sizes of karpathy/tinyllamas' stories260K: not multiples of 32.
    "f16_group2_hd8_odd_sizes": dict(
        dtype="float16", vocab_size=259, hidden_size=64, intermediate_size=172, num_attention_heads=8, num_key_value_heads=4,
        head_dim=None, tie_word_embeddings=True, rope_theta=10000.0, rms_norm_eps=1e-5, rope_keys="classic",
    ),
}  # fmt: skip


def build_config(spec: dict) -> LlamaConfig:
    rope = {"rope_theta": spec["rope_theta"], **spec.get("rope_scaling", {"rope_type": "default"})}
    return LlamaConfig(
        vocab_size=spec["vocab_size"],
        hidden_size=spec["hidden_size"],
        intermediate_size=spec["intermediate_size"],
        num_hidden_layers=2,
        num_attention_heads=spec["num_attention_heads"],
        num_key_value_heads=spec["num_key_value_heads"],
        head_dim=spec["head_dim"],
        max_position_embeddings=256,
        rms_norm_eps=spec["rms_norm_eps"],
        tie_word_embeddings=spec["tie_word_embeddings"],
        attention_bias=spec.get("attention_bias", False),
        rope_parameters=rope,
    )


@torch.no_grad()
def randomise(model: LlamaForCausalLM, seed: int) -> None:
    """Weights so large that a wrong norm, bias, rotation or mask moves the logits far more than rounding does."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if name.endswith("bias"):
            parameter.copy_(0.5 * noise)
        elif parameter.dim() == 1:  # norms
            parameter.copy_(1 + 0.3 * noise)
        elif "embed_tokens" in name:
            # A tied head with large embeddings would repeat its input token forever.
            parameter.copy_((0.3 if model.config.tie_word_embeddings else 1.0) * noise)
        else:
            gain = 2.0 if "q_proj" in name or "lm_head" in name else 1.5
            parameter.copy_(gain * noise / parameter.shape[1] ** 0.5)


def write_classic_config(path: Path, spec: dict) -> None:
    """Writes config.json in the spelling before transformers 5: rope_theta and rope_scaling at the top level, torch_dtype."""
    config = json.loads(path.read_text())
    config.pop("rope_parameters")
    config.pop("transformers_version")
    config["torch_dtype"] = config.pop("dtype")
    config["rope_theta"] = spec["rope_theta"]
    config["rope_scaling"] = spec.get("rope_scaling")
    if spec["head_dim"] is None:
        config.pop("head_dim")
    path.write_text(json.dumps(dict(sorted(config.items())), indent=2) + "\n")


def assert_scaling_matters(reference: LlamaForCausalLM, input_ids: torch.Tensor, logits: torch.Tensor) -> None:
    config = LlamaConfig(**{**reference.config.to_dict(), "rope_parameters": {"rope_type": "default", "rope_theta": reference.config.rope_parameters["rope_theta"]}})
    plain = LlamaForCausalLM(config).float().eval()
    plain.load_state_dict(reference.state_dict())
    with torch.no_grad():
        difference = (plain(input_ids=input_ids).logits[0] - logits).abs().max()
    assert difference > 0.1, f"llama3 scaling changes logits by {difference} only"


def write_llama_fixtures(out: Path) -> None:
    for seed, (name, spec) in enumerate(MODELS.items()):
        folder = out / name
        shutil.rmtree(folder, ignore_errors=True)
        model = LlamaForCausalLM(build_config(spec))
        randomise(model, seed)
        model = model.to(getattr(torch, spec["dtype"]))
        size = sum(p.numel() * p.element_size() for p in model.parameters())
        model.save_pretrained(folder, max_shard_size=f"{size * 6 // 10 // 1000}KB" if spec.get("shards") else "1GB")
        (folder / "generation_config.json").unlink(missing_ok=True)
        if spec["rope_keys"] == "classic":
            write_classic_config(folder / "config.json", spec)
        assert len(list(folder.glob("model*.safetensors"))) == spec.get("shards", 1)

        # The reference reads back what was stored, so its logits belong to the rounded weights.
        reference = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        rope = reference.config.rope_parameters
        assert rope["rope_type"] == spec.get("rope_scaling", {"rope_type": "default"})["rope_type"], rope
        assert rope["rope_theta"] == spec["rope_theta"], rope
        input_ids = torch.randint(spec["vocab_size"], (1, POSITIONS), generator=torch.Generator().manual_seed(100 + seed))
        with torch.no_grad():
            logits = reference(input_ids=input_ids, use_cache=False).logits[0].contiguous()
        if "rope_scaling" in spec:
            assert_scaling_matters(reference, input_ids, logits)
        save_file({"input_ids": input_ids[0].to(torch.int32), "logits": logits}, folder / "expected.safetensors")

        prompt = input_ids[0, :8].tolist()
        ids, margins = greedy(reference, prompt, 32)  # always 32 ids: the eos of config.json does not stop decoding
        (folder / "greedy.json").write_text(json.dumps({"promptIds": prompt, "ids": ids, "margins": margins}) + "\n")
        for file in folder.iterdir():
            file.chmod(0o644)
        print(f"{name}: {size} weight bytes, logit std {logits.std():.2f}, {len(set(ids))} distinct ids, least margin {min(margins)}")
