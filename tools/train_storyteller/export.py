"""Exports the trained weights as a folder that transformers and llama.cpp load unchanged.

    python3 export.py --run RUN.pt --tokenizer TOKENIZER_FOLDER --out public/models/storyteller
"""

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

import gguf_file
from gguf_file import ARRAY, BOOL, FLOAT32, INT32, STRING, UINT32, Value
from model import Config
from tokenizer import CHAT_TEMPLATE, CONTEXT, END_OF_TEXT, IM_END, SPECIAL, save

TOKEN_NORMAL, TOKEN_CONTROL = 1, 3
MOSTLY_Q8_0 = 7
LAYER_NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}  # fmt: skip


def interleave_rotary(weight: np.ndarray, n_heads: int) -> np.ndarray:
    """Reorders rows of a head from pairs (i, i + head_dim / 2) to (2 i, 2 i + 1), as llama.cpp's converter does in `permute`."""
    half = weight.shape[0] // n_heads // 2
    return weight.reshape(n_heads, 2, half, -1).swapaxes(1, 2).reshape(weight.shape)


def deinterleave_rotary(weight: np.ndarray, n_heads: int) -> np.ndarray:
    half = weight.shape[0] // n_heads // 2
    return weight.reshape(n_heads, half, 2, -1).swapaxes(1, 2).reshape(weight.shape)


def gguf_tensors(config: Config, state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Tensors under GGUF's names; the head is tied, so there is no output.weight."""
    tensors = {"token_embd.weight": state["model.embed_tokens.weight"], "output_norm.weight": state["model.norm.weight"]}
    for i in range(config.num_layers):
        for hugging_face, name in LAYER_NAMES.items():
            x = state[f"model.layers.{i}.{hugging_face}.weight"]
            if name == "attn_q":
                x = interleave_rotary(x, config.num_heads)
            if name == "attn_k":
                x = interleave_rotary(x, config.num_kv_heads)
            tensors[f"blk.{i}.{name}.weight"] = x
    return tensors


def hugging_face_state(config: Config, tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The reverse: the tensors of a GGUF file under transformers' names."""
    state = {"model.embed_tokens.weight": tensors["token_embd.weight"], "model.norm.weight": tensors["output_norm.weight"]}
    for i in range(config.num_layers):
        for hugging_face, name in LAYER_NAMES.items():
            x = tensors[f"blk.{i}.{name}.weight"]
            if name == "attn_q":
                x = deinterleave_rotary(x, config.num_heads)
            if name == "attn_k":
                x = deinterleave_rotary(x, config.num_kv_heads)
            state[f"model.layers.{i}.{hugging_face}.weight"] = x
    return state


def gguf_keys(config: Config, tokenizer: Tokenizer, parameters: int) -> dict[str, Value]:
    model = json.loads(tokenizer.to_str())["model"]
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
    tokens = [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]
    types = [TOKEN_CONTROL if t in SPECIAL else TOKEN_NORMAL for t in tokens]

    def text(value: str) -> Value:
        return Value(STRING, value)

    def number(value: int) -> Value:
        return Value(UINT32, value)

    return {
        "general.architecture": text("llama"),
        "general.type": text("model"),
        "general.name": text("Storyteller"),
        "general.basename": text("storyteller"),
        "general.size_label": text(f"{parameters / 1e6:.0f}M"),
        "general.license": text("apache-2.0"),
        "general.file_type": number(MOSTLY_Q8_0),
        "general.quantization_version": number(2),
        "llama.block_count": number(config.num_layers),
        "llama.context_length": number(CONTEXT),
        "llama.embedding_length": number(config.hidden_size),
        "llama.feed_forward_length": number(config.intermediate_size),
        "llama.attention.head_count": number(config.num_heads),
        "llama.attention.head_count_kv": number(config.num_kv_heads),
        "llama.attention.key_length": number(config.head_dim),
        "llama.attention.value_length": number(config.head_dim),
        "llama.attention.layer_norm_rms_epsilon": Value(FLOAT32, config.rms_norm_eps),
        "llama.rope.dimension_count": number(config.head_dim),
        "llama.rope.freq_base": Value(FLOAT32, config.rope_theta),
        "llama.vocab_size": number(config.vocab_size),
        "tokenizer.ggml.model": text("gpt2"),
        "tokenizer.ggml.pre": text("gpt-2"),
        "tokenizer.ggml.tokens": Value(ARRAY, tokens, STRING),
        "tokenizer.ggml.token_type": Value(ARRAY, types, INT32),
        "tokenizer.ggml.merges": Value(ARRAY, merges, STRING),
        "tokenizer.ggml.eos_token_id": number(tokenizer.token_to_id(IM_END)),
        "tokenizer.ggml.eot_token_id": number(tokenizer.token_to_id(IM_END)),
        "tokenizer.ggml.padding_token_id": number(tokenizer.token_to_id(END_OF_TEXT)),
        "tokenizer.ggml.add_bos_token": Value(BOOL, False),
        "tokenizer.chat_template": text(CHAT_TEMPLATE),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    saved = torch.load(args.run, map_location="cpu", weights_only=True)
    config = Config(**saved["config"])
    state = {k: v.float().numpy() for k, v in saved["state"].items()}
    tokenizer = Tokenizer.from_file(str(args.tokenizer / "tokenizer.json"))

    (args.out / "config.json").write_text(json.dumps(config.to_hugging_face(), indent=2) + "\n")
    ids = [tokenizer.token_to_id(IM_END), tokenizer.token_to_id(END_OF_TEXT)]
    generation = {"do_sample": True, "eos_token_id": ids, "pad_token_id": ids[1], "temperature": 0.8, "top_p": 0.9}
    (args.out / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n")
    shutil.copy(args.tokenizer / "tokenizer.json", args.out / "tokenizer.json")
    save(tokenizer, args.out)

    path = args.out / "storyteller-q8_0.gguf"
    tensors = gguf_tensors(config, state)
    gguf_file.write(path, gguf_keys(config, tokenizer, sum(x.size for x in state.values())), tensors)
    back = hugging_face_state(config, gguf_file.read_tensors(path))
    worst = max(np.abs(back[k] - state[k]).max() / np.abs(state[k]).max() for k in state)
    assert worst < 0.005, f"dequantized weights are off by {worst} of a tensor's largest"
    print(f"{path}: {path.stat().st_size} bytes, largest rounding {worst:.5f} of a tensor's largest weight")


if __name__ == "__main__":
    main()
