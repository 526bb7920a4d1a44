"""Outputs of the reference libraries for the shipped model: greedy ids (transformers) and token ids (tokenizers).

The weights come from the shipped Q8_0 file, dequantized by transformers' own GGUF reader. The computation is in float32.
"""

import json
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM, AutoTokenizer

from reference import greedy

GGUF = "storyteller-q8_0.gguf"
PROMPTS = [
    "Tell me a story about a brave cat",
    "Write a short story about a kind dragon.",
    "Tell me a story about Lily and her lost ball.",
    "Can you tell me a story about a little robot?",
    "A story about two friends at the beach, please.",
    "Tell me a bedtime story about a sleepy owl.",
    "Tell me a story.",
    "Hello!",
    "What is the capital of France?",
    "Write a story with the words tree, ball, frog.",
    "Tell me a story that starts with: One day, a small mouse found a big cheese.",
    "a story about sharing",
    "Tell me a story about a boy named Max who loved to paint.",
    "A grumpy bear",
    "Make up a story about a princess and a fox.",
    "Write a long story about a rainy day.",
    "My son wants a story about trucks.",
    "Tell me a story about a café in the snow ☃️",
    "Please tell me a story about a bird who wanted to fly higher than the clouds and see the moon.",
    "Thank you!",
]
STRINGS = [
    "", " ", "  ", "a", "Hello", " Hello", "Hello, world!", "Tell me a story about a brave cat", "Once upon a time, there was a little girl named Lily.",
    "It's, they're, I'll, we've, I'd, don't, he'S", '"What is that?" she asked.', "UPPER lower MiXeD", "1234567890", "3.14 and 1,000,000", "100%",
    "a  b   c    d", "trailing spaces   ", "   leading spaces", "\n", "\n\n", "line one\nline two\n\nline four\n", "tab\tand\t\ttabs", "\r\nwindows\r\n",
    " \n \n ", "\u00a0no-break\u00a0space", "\u3000ideographic\u3000space", "naïve café résumé Ångström", "e\u0301 is not é", "ß ſ ﬁ ½ ² ①",
    "Привет, мир", "γειά σου Κόσμε", "שלום עולם", "مرحبا بالعالم", "नमस्ते दुनिया", "สวัสดีชาวโลก", "你好，世界。", "こんにちは世界", "안녕하세요 세계",
    "😀", "👨‍👩‍👧‍👦 a family", "👍🏽🇫🇷☃️", "for (let i = 0; i < n; i++) { x[i] += 0.5; }", "def f(x):\n    return x ** 2  # square\n",
    "https://example.com/a?b=c&d=%20", "snake_case camelCase kebab-case", "!!!???...,,,;;;", "\u0000\u0001\u007f", "\ufeffbom", "<|im_start|>",
    "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", "text<|endoftext|>text", "<|im_end|><|im_end|>", "<|im_start |> <|unknown|> <|im_end",
    "supercalifragilisticexpialidocious", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
]  # fmt: skip


def write_tokenizer(model: Path, out: Path) -> None:
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    cases = [{"text": s, "ids": tokenizer.encode(s, add_special_tokens=False).ids} for s in STRINGS]
    for case in cases:
        assert tokenizer.decode(case["ids"], skip_special_tokens=False) == case["text"], case
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
    print(f"{out.name}: {len(cases)} strings")


def write_greedy(model: Path, out: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(model)
    reference = AutoModelForCausalLM.from_pretrained(model, gguf_file=GGUF, dtype=torch.float32, attn_implementation="eager").eval()
    stop = tuple(json.loads((model / "generation_config.json").read_text())["eos_token_id"])
    cases = []
    for prompt in PROMPTS:
        text = tokenizer.apply_chat_template([{"role": "user", "content": prompt}], tokenize=False, add_generation_prompt=True)
        prompt_ids = tokenizer(text, add_special_tokens=False).input_ids
        ids, margins = greedy(reference, prompt_ids, 64, stop)
        cases.append({"prompt": prompt, "promptIds": prompt_ids, "ids": ids, "margins": margins})
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]\n")
    least = min(min(c["margins"]) for c in cases)
    print(f"{out.name}: {len(cases)} prompts, {sum(len(c['ids']) for c in cases)} ids, least margin {least}")
