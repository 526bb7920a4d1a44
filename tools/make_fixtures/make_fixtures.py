"""Writes test/fixtures: the outputs of the reference implementation (transformers, float32, CPU) for small models.

It must not import anything from the engine: a fixture that shares code with the checked program proves nothing.

    python3 tools/make_fixtures/make_fixtures.py llama         # tiny seeded random models, logits and greedy ids
    python3 tools/make_fixtures/make_fixtures.py architectures # the same for other architectures and kinds of RoPE
    python3 tools/make_fixtures/make_fixtures.py embeddings    # models that embed text, and the vectors of some
    python3 tools/make_fixtures/make_fixtures.py storyteller   # greedy ids and tokenizer ids of the shipped model
"""

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "test" / "fixtures"
STORYTELLER = ROOT / "public" / "models" / "storyteller"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["llama", "architectures", "embeddings", "storyteller"])
    what = parser.parse_args().what
    if what == "llama":
        from llama import write_llama_fixtures

        write_llama_fixtures(FIXTURES / "llama")
    elif what == "architectures":
        from architectures import write_architecture_fixtures

        write_architecture_fixtures(FIXTURES / "architectures")
    elif what == "embeddings":
        from embeddings import write_embedding_fixtures

        write_embedding_fixtures(FIXTURES / "embeddings")
    else:
        from storyteller import write_greedy, write_tokenizer

        write_tokenizer(STORYTELLER, FIXTURES / "tokenizer" / "storyteller.json")
        write_greedy(STORYTELLER, FIXTURES / "storyteller" / "greedy.json")


if __name__ == "__main__":
    main()
