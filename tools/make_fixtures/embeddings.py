"""Tiny random models that embed text, in the layout of sentence-transformers, and the vectors that it makes of texts.

Each folder holds a checkpoint without the prefix `model.` and without a head, as published ones, a tokenizer of bytes, the modules
behind the model, and `expected.safetensors`: the vectors of the texts of `expected.json`, in float32 from the rounded weights.
`without` names settings whose omission must turn some vector, which proves that each feature matters.
"""

import json
import shutil
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import AutoModel, CONFIG_MAPPING, PreTrainedTokenizerFast

from architectures import PLAIN_ROPE, SMALL, randomise

TEXTS = [
    "a",
    "A cat sleeps.",
    "A dog barks at the moon, and the moon does not mind.",
    "Überall Wärme, 日本語, and \U0001f408: characters of two to four bytes.",
    "One token more than a block, " * 5,
    "Rain fell on the roofs of the old town all night, and in the morning the river had risen to the second step. " * 3,
]
HEAD = dict(num_hidden_layers=4, head_dim=32, max_position_embeddings=512, vocab_size=259)

# name -> (model_type, settings, special tokens, template of a text, pooling, sizes of dense layers, settings to omit)
MODELS = {
    "qwen3_embedding": (
        "qwen3",
        dict(tie_word_embeddings=True, use_sliding_window=False, rope_parameters={**PLAIN_ROPE, "rope_theta": 1e6}),
        ["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        "$A <|endoftext|>",
        "lasttoken",
        [],
        [],
    ),
    "embedding_gemma": (
        "gemma3_text",
        dict(
            query_pre_attn_scalar=24, use_bidirectional_attention=True, sliding_window=24,
            layer_types=["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"],
            rope_parameters={"sliding_attention": PLAIN_ROPE, "full_attention": {**PLAIN_ROPE, "rope_theta": 1e6}},
        ),
        ["<pad>", "<eos>", "<bos>"],
        "<bos> $A <eos>",
        "mean",
        [256, 64],
        [dict(use_bidirectional_attention=False), dict(sliding_window=512), dict(sliding_window=26)],
    ),
}  # fmt: skip


def byte_tokenizer(special: list[str], template: str) -> PreTrainedTokenizerFast:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={char: i for i, char in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    ids = [(token, tokenizer.token_to_id(token)) for token in special]
    tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=ids)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=special[0], eos_token=special[1 if "<eos>" in special else 0])


def build(model_type: str, settings: dict):
    config = CONFIG_MAPPING[model_type](**{**SMALL, **HEAD, **settings})
    return AutoModel.from_config(config, attn_implementation="eager").float().eval()


def assemble(folder: Path, pooling: str, dense: list[torch.Tensor]) -> SentenceTransformer:
    transformer = Transformer(str(folder), model_kwargs={"attn_implementation": "eager", "dtype": torch.float32})
    size = transformer.get_embedding_dimension()
    modules = [transformer, Pooling(size, pooling_mode=pooling)]
    for weight in dense:
        out, inner = weight.shape
        modules.append(Dense(inner, out, bias=False, activation_function=None, init_weight=weight))
    return SentenceTransformer(modules=[*modules, Normalize()], device="cpu")


@torch.no_grad()
def vectors_of(folder: Path, pooling: str, dense: list[torch.Tensor]) -> torch.Tensor:
    """(len(TEXTS), size). One text at a time: padding would be a second thing to check."""
    model = assemble(folder, pooling, dense)
    return torch.stack([model.encode(text, convert_to_tensor=True) for text in TEXTS]).float()


def least_cosine(a: torch.Tensor, b: torch.Tensor) -> float:
    return float(torch.nn.functional.cosine_similarity(a, b).min())


def write_embedding_fixtures(out: Path) -> None:
    for seed, (name, (model_type, settings, special, template, pooling, sizes, omissions)) in enumerate(MODELS.items()):
        folder = out / name
        shutil.rmtree(folder, ignore_errors=True)
        model = build(model_type, settings)
        randomise(model, 2000 + seed)
        tokenizer = byte_tokenizer(special, template)
        model.to(torch.bfloat16).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        generator = torch.Generator().manual_seed(3000 + seed)
        widths = [SMALL["hidden_size"], *sizes]
        dense = [torch.randn(b, a, generator=generator) / a**0.5 for a, b in zip(widths, widths[1:])]

        # The modules are those that sentence-transformers writes; its copy of the checkpoint is dropped.
        with tempfile.TemporaryDirectory() as saved:
            assemble(folder, pooling, dense).save(saved)
            shutil.copy(Path(saved) / "modules.json", folder)
            for inner in sorted(Path(saved).iterdir()):
                if inner.is_dir() and any(inner.iterdir()):
                    shutil.copytree(inner, folder / inner.name)
        for unused in ["chat_template.jinja", "generation_config.json", "special_tokens_map.json"]:
            (folder / unused).unlink(missing_ok=True)
        assert "embed_tokens.weight" in load_file(folder / "model.safetensors")

        vectors = vectors_of(folder, pooling, dense)
        others = ["mean" if pooling == "lasttoken" else "lasttoken"]
        moved = {other: least_cosine(vectors, vectors_of(folder, other, dense)) for other in others}
        written = (folder / "config.json").read_text()
        for omission in omissions:
            (folder / "config.json").write_text(json.dumps({**json.loads(written), **omission}))
            moved[str(omission)] = least_cosine(vectors, vectors_of(folder, pooling, dense))
        (folder / "config.json").write_text(written)
        assert all(cosine < 0.999 for cosine in moved.values()), moved
        save_file({"vectors": vectors.contiguous()}, folder / "expected.safetensors")
        ids = [tokenizer(text)["input_ids"] for text in TEXTS]
        (folder / "expected.json").write_text(json.dumps({"texts": TEXTS, "ids": ids}) + "\n")
        for file in folder.rglob("*"):
            file.chmod(0o755 if file.is_dir() else 0o644)
        apart = torch.nn.functional.cosine_similarity(vectors[:1], vectors[1:]).abs().max()
        print(f"{name}: {[len(each) for each in ids]} tokens, texts at most {apart:.2f} alike, without: {moved}")
