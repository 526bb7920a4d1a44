"""Second turns in published chat templates: renderings by Jinja in Python, and ids of the reference tokenizer.

Reads the templates and the vocabulary of Qwen 2.5 from ../shared/data, which is not part of the project. Writes
test/fixtures/tokenizer/histories.json: {histories, added, cases: {name: {history: [text hash, ids hash] or null}}}, where null
marks a conversation that the template refuses, and a hash is the first 12 digits of SHA-256. Needs `jinja2`, `tokenizers`.
"""
import datetime
import hashlib
import json
from pathlib import Path

from jinja2.sandbox import ImmutableSandboxedEnvironment
from template_features import Generation, to_json
from tokenizers import AddedToken, Tokenizer

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
TODAY = datetime.datetime(2025, 1, 2, 12)


def message(role):
    return lambda content: {"role": role, "content": content}


system, user, model = message("system"), message("user"), message("assistant")
HISTORIES = {
    "thinking": [user("What is 1+1?"), model("<think>\nLet me add.\n</think>\n\nIt is 2."), user("And 2+2?")],
    "two turns": [
        system("Be brief."),
        user("What is 1+1?"),
        model("<think>\nadd\n</think>\n\n2"),
        user(" And 2+2? "),
        model("4"),
        user("ok"),
    ],
    "tool calls": [
        user("Weather?"),
        model('<think>call</think>\n<tool_call>\n{"name": "w", "arguments": {"city": "Köln"}}\n</tool_call>'),
        user("21 degrees"),
        model("[THINK]x[/THINK]It is <b>21</b> °C.\n<|tool_call_start|>[f()]<|tool_call_end|>"),
        user("Thanks"),
    ],
    "typed tags": [user("hi"), model("</think>only the end"), user("<tool_response>typed</tool_response> <think> </think>")],
    "thinking without end": [user("hi"), model("<think>\nno end"), user("bye 🙂")],
    "the answer is last": [user("hi"), model("<think>\na\n</think>\n\nb")],
}
ADDED = [
    *["<think>", "</think>", "<tool_response>", "</tool_response>", "[THINK]", "[/THINK]"],
    *["<|tool_call_start|>", "<|tool_call_end|>"],
]


def templates():
    vectors = json.loads((DATA / "chat_templates" / "llama_cpp_vectors.json").read_text("utf-8"))
    for case in vectors["cases"]:
        yield case["name"], case["template"], case.get("bos_token") or "", case.get("eos_token") or ""
    for path in sorted((DATA / "chat_templates" / "jinja").glob("*.jinja")):
        yield path.name, path.read_text("utf-8"), "<s>", "</s>"


def refuse(words):
    raise ValueError(words)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def main():
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = to_json
    environment.globals |= {"raise_exception": refuse, "strftime_now": TODAY.strftime}
    tokenizer = Tokenizer.from_file(str(DATA / "tokenizers" / "qwen2.5" / "tokenizer.json"))
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in ADDED])
    cases = {}
    for name, source, bos, eos in templates():
        template = environment.from_string(source)
        cases[name] = {}
        for title, messages in HISTORIES.items():
            names = {"messages": messages, "tools": None, "documents": None, "add_generation_prompt": True}
            try:
                text = template.render(**names, bos_token=bos, eos_token=eos)
            except Exception:  # refused by the template itself or by Python
                cases[name][title] = None
                continue
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            cases[name][title] = [digest(text), digest(",".join(map(str, ids)))]
    path = ROOT / "test" / "fixtures" / "tokenizer" / "histories.json"
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(case)}" for name, case in cases.items())
    head = json.dumps({"histories": HISTORIES, "added": ADDED}, ensure_ascii=False)
    path.write_text(f'{head[:-1]}, "cases": {{\n{lines}\n}}}}\n', "utf-8")
    print(path, len(cases), path.stat().st_size)


if __name__ == "__main__":
    main()
