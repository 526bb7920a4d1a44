"""The LLaMA architecture in plain torch, with the tensor names of transformers' LlamaForCausalLM.

Written out because training needs dropout and attention within documents. The shipped files are checked with transformers.
"""

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Config:
    vocab_size: int = 4096
    hidden_size: int = 384
    intermediate_size: int = 1024
    num_layers: int = 8
    num_heads: int = 6
    num_kv_heads: int = 2
    head_dim: int = 64
    rope_theta: float = 10000.0
    rms_norm_eps: float = 1e-5
    dropout: float = 0.1

    def to_hugging_face(self) -> dict:
        return {
            "architectures": ["LlamaForCausalLM"],
            "attention_bias": False,
            "attention_dropout": 0.0,
            "bos_token_id": None,
            "dtype": "float32",
            "eos_token_id": 2,
            "head_dim": self.head_dim,
            "hidden_act": "silu",
            "hidden_size": self.hidden_size,
            "initializer_range": 0.02,
            "intermediate_size": self.intermediate_size,
            "max_position_embeddings": 1024,
            "mlp_bias": False,
            "model_type": "llama",
            "num_attention_heads": self.num_heads,
            "num_hidden_layers": self.num_layers,
            "num_key_value_heads": self.num_kv_heads,
            "pad_token_id": 0,
            "rms_norm_eps": self.rms_norm_eps,
            "rope_scaling": None,
            "rope_theta": self.rope_theta,
            "tie_word_embeddings": True,
            "use_cache": True,
            "vocab_size": self.vocab_size,
        }

    asdict = asdict


class RmsNorm(nn.Module):
    def __init__(self, size: int, eps: float):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x: Tensor) -> Tensor:
        x32 = x.float()
        return (x32 * torch.rsqrt(x32.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight).to(x.dtype)


def rotary_table(config: Config, length: int, device) -> tuple[Tensor, Tensor]:
    inverse = config.rope_theta ** (-torch.arange(0, config.head_dim, 2, device=device).float() / config.head_dim)
    angle = torch.outer(torch.arange(length, device=device).float(), inverse).repeat(1, 2)  # (length, head_dim)
    return angle.cos(), angle.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotates the pairs (i, i + head_dim / 2), as in transformers."""
    first, second = x.chunk(2, dim=-1)
    return (x * cos + torch.cat((-second, first), dim=-1) * sin).to(x.dtype)


class Attention(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.c = c
        self.q_proj = nn.Linear(c.hidden_size, c.num_heads * c.head_dim, bias=False)
        self.k_proj = nn.Linear(c.hidden_size, c.num_kv_heads * c.head_dim, bias=False)
        self.v_proj = nn.Linear(c.hidden_size, c.num_kv_heads * c.head_dim, bias=False)
        self.o_proj = nn.Linear(c.num_heads * c.head_dim, c.hidden_size, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor | None) -> Tensor:
        c, (batch, length, _) = self.c, x.shape
        q = rotate(self.q_proj(x).view(batch, length, c.num_heads, c.head_dim).transpose(1, 2), cos, sin)
        k = rotate(self.k_proj(x).view(batch, length, c.num_kv_heads, c.head_dim).transpose(1, 2), cos, sin)
        v = self.v_proj(x).view(batch, length, c.num_kv_heads, c.head_dim).transpose(1, 2)
        group = c.num_heads // c.num_kv_heads
        k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        return self.o_proj(out.transpose(1, 2).reshape(batch, length, -1))


class Mlp(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.gate_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.up_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.down_proj = nn.Linear(c.intermediate_size, c.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.self_attn, self.mlp = Attention(c), Mlp(c)
        self.input_layernorm = RmsNorm(c.hidden_size, c.rms_norm_eps)
        self.post_attention_layernorm = RmsNorm(c.hidden_size, c.rms_norm_eps)
        self.dropout = nn.Dropout(c.dropout)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor | None) -> Tensor:
        x = x + self.dropout(self.self_attn(self.input_layernorm(x), cos, sin, mask))
        return x + self.dropout(self.mlp(self.post_attention_layernorm(x)))


class Llama(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.model = nn.ModuleDict(
            {
                "embed_tokens": nn.Embedding(config.vocab_size, config.hidden_size),
                "layers": nn.ModuleList(Layer(config) for _ in range(config.num_layers)),
                "norm": RmsNorm(config.hidden_size, config.rms_norm_eps),
            }
        )
        self.dropout = nn.Dropout(config.dropout)
        for name, p in self.named_parameters():
            if p.dim() == 2:  # additions to the residual stream start smaller in deeper models
                shrink = (2 * config.num_layers) ** -0.5 if name.endswith(("o_proj.weight", "down_proj.weight")) else 1.0
                nn.init.normal_(p, std=0.02 * shrink)

    def forward(self, tokens: Tensor, docs: Tensor | None = None) -> Tensor:
        """tokens, docs: (batch, length) -> logits (batch, length, vocab_size). Without docs a row is one document."""
        length = tokens.shape[1]
        mask = None
        if docs is not None:
            causal = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()
            mask = ((docs[:, :, None] == docs[:, None, :]) & causal)[:, None]  # (batch, 1, length, length)
        cos, sin = rotary_table(self.config, length, tokens.device)
        x = self.dropout(self.model["embed_tokens"](tokens))
        for layer in self.model["layers"]:
            x = layer(x, cos, sin, mask)
        return F.linear(self.model["norm"](x), self.model["embed_tokens"].weight)
