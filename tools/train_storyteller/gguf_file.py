"""GGUF version 3, as far as a LLaMA model needs it: a writer, and a reader for the fixtures and for checking the writer.

    header   "GGUF", version u32, tensor count u64, key count u64
    keys     name, type u32, value
    tensors  name, dimensions (fastest first), type u32, offset from the start of the data
    data     aligned to 32 bytes, like every tensor
"""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import q8_0

ALIGNMENT = 32
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
GGML_F32, GGML_Q8_0 = 0, 8
SCALARS = {UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}


@dataclass
class Value:
    type: int
    value: object
    item: int | None = None  # the item type of an array


def string_bytes(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def value_bytes(kind: int, value) -> bytes:
    return string_bytes(value) if kind == STRING else struct.pack(SCALARS[kind], value)


def padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % ALIGNMENT)


def write(path: Path, keys: dict[str, Value], tensors: dict[str, np.ndarray]) -> None:
    """2-D tensors are stored as Q8_0, 1-D ones as F32."""
    head, infos, body = b"", b"", b""
    for name, v in keys.items():
        head += string_bytes(name) + struct.pack("<I", v.type)
        if v.type == ARRAY:
            head += struct.pack("<IQ", v.item, len(v.value)) + b"".join(value_bytes(v.item, x) for x in v.value)
        else:
            head += value_bytes(v.type, v.value)
    for name, x in tensors.items():
        kind = GGML_Q8_0 if x.ndim == 2 else GGML_F32
        infos += string_bytes(name) + struct.pack("<I", x.ndim) + struct.pack(f"<{x.ndim}Q", *reversed(x.shape))
        infos += struct.pack("<IQ", kind, len(body))
        body += padded((q8_0.quantize(x) if kind == GGML_Q8_0 else x.astype("<f4")).tobytes())
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    path.write_bytes(padded(header + head + infos) + body)


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """All tensors as float32, Q8_0 dequantized."""
    data, at = path.read_bytes(), 0

    def take(fmt: str):
        nonlocal at
        values = struct.unpack_from(fmt, data, at)
        at += struct.calcsize(fmt)
        return values[0] if len(values) == 1 else values

    def take_string() -> str:
        nonlocal at
        n = take("<Q")
        at += n
        return data[at - n : at].decode()

    def skip_value(kind: int) -> None:
        if kind == ARRAY:
            item, n = take("<IQ")
            for _ in range(n):
                skip_value(item)
        elif kind == STRING:
            take_string()
        else:
            take(SCALARS[kind])

    assert data[:4] == b"GGUF"
    at = 4
    _, n_tensors, n_keys = take("<IQQ")
    for _ in range(n_keys):
        take_string()
        skip_value(take("<I"))
    infos = []
    for _ in range(n_tensors):
        name, n_dims = take_string(), take("<I")
        shape = tuple(take("<Q") for _ in range(n_dims))[::-1]
        infos.append((name, shape, *take("<IQ")))
    start = at + (-at % ALIGNMENT)
    tensors = {}
    for name, shape, kind, offset in infos:
        n = int(np.prod(shape))
        if kind == GGML_F32:
            tensors[name] = np.frombuffer(data, "<f4", n, start + offset).reshape(shape)
        else:
            raw = np.frombuffer(data, np.uint8, n // q8_0.BLOCK * (q8_0.BLOCK + 2), start + offset)
            tensors[name] = q8_0.dequantize(raw, shape[-1])
    return tensors
