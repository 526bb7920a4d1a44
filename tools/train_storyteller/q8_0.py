"""ggml's Q8_0: blocks of 32 weights, one f16 scale d = max|x| / 127 and 32 int8, 34 bytes a block."""

import numpy as np

BLOCK = 32


def quantize(x: np.ndarray) -> np.ndarray:
    """(rows, columns) float32 -> (rows, columns / 32 * 34) uint8, bit for bit as quantize_row_q8_0_ref."""
    blocks = x.astype(np.float32).reshape(-1, BLOCK)
    d = np.abs(blocks).max(axis=1, keepdims=True) / np.float32(127)
    inverse = np.divide(np.float32(1), d, out=np.zeros_like(d), where=d != 0)
    scaled = blocks * inverse
    q = np.copysign(np.floor(np.abs(scaled) + np.float32(0.5)), scaled).astype(np.int8)  # roundf: halves away from zero
    packed = np.concatenate([d.astype(np.float16).view(np.uint8), q.view(np.uint8)], axis=1)
    return packed.reshape(x.shape[0], -1)


def dequantize(packed: np.ndarray, columns: int) -> np.ndarray:
    blocks = np.ascontiguousarray(packed).reshape(-1, BLOCK + 2)
    d = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    return (blocks[:, 2:].view(np.int8).astype(np.float32) * d).reshape(-1, columns)
