"""Blocks of every quantized GGUF format, with the values that gguf-py (llama.cpp's own package, checked against its C code) reads.

`python3 ggml_blocks.py FOLDER` (needs `pip install gguf`) writes one TYPE.bin per format: seeded random blocks as in a file, with any bits for
quants and small scales, f16 scales finite, some zero, subnormal, negative or the largest; then the little-endian f32 of their values.
"""

import sys
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

# Byte offsets of the f16 scales in a block (ggml-common.h).
HALVES = {
    "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "IQ4_NL": [0],
    "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
}  # fmt: skip
EDGES = np.array([0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF], np.uint16)
ELEMENTS = 12 * 256


def random_blocks(name: str, rng: np.random.Generator) -> np.ndarray:
    elements, size = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
    blocks = rng.integers(0, 256, (ELEMENTS // elements, size), np.uint8)
    for at in HALVES[name]:
        halves = rng.integers(0, 0x7C00, len(blocks), np.uint16) | (rng.integers(0, 2, len(blocks), np.uint16) << 15)
        halves[: len(EDGES)] = rng.permutation(EDGES)
        blocks[:, at : at + 2] = halves.view(np.uint8).reshape(-1, 2)
    return blocks


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for i, name in enumerate(HALVES):
        blocks = random_blocks(name, np.random.default_rng(i))
        values = dequantize(blocks, GGMLQuantizationType[name]).astype("<f4")
        (folder / f"{name}.bin").write_bytes(blocks.tobytes() + values.tobytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
