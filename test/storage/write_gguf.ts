// Writes small GGUF files for tests. Every field can be set wrong on purpose.

/** Value type numbers of GGUF metadata. */
export const T = {
  u8: 0,
  i8: 1,
  u16: 2,
  i16: 3,
  u32: 4,
  i32: 5,
  f32: 6,
  bool: 7,
  string: 8,
  array: 9,
  u64: 10,
  i64: 11,
  f64: 12,
} as const;

/** Collects little-endian bytes. */
export class Bytes {
  private readonly parts: Uint8Array<ArrayBuffer>[] = [];
  length = 0;

  raw(bytes: Uint8Array | number[]): this {
    const copy = Uint8Array.from(bytes);
    this.parts.push(copy);
    this.length += copy.length;
    return this;
  }

  private number(width: number, set: (view: DataView) => void): this {
    const bytes = new Uint8Array(width);
    set(new DataView(bytes.buffer));
    return this.raw(bytes);
  }

  u8(value: number): this {
    return this.raw([value]);
  }

  u16(value: number): this {
    return this.number(2, (v) => v.setUint16(0, value, true));
  }

  u32(value: number): this {
    return this.number(4, (v) => v.setUint32(0, value, true));
  }

  u64(value: number | bigint): this {
    return this.number(8, (v) => v.setBigUint64(0, BigInt(value), true));
  }

  f32(value: number): this {
    return this.number(4, (v) => v.setFloat32(0, value, true));
  }

  f64(value: number): this {
    return this.number(8, (v) => v.setFloat64(0, value, true));
  }

  string(value: string | Uint8Array): this {
    const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
    return this.u64(bytes.length).raw(bytes);
  }

  pad(multiple: number): this {
    return this.raw(new Uint8Array((multiple - (this.length % multiple)) % multiple));
  }

  done(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

export interface GgufTensor {
  name: string | Uint8Array;
  /** Innermost first, as in the file. */
  ne: (number | bigint)[];
  type?: number;
  /** Offset from the start of the data section. Default: after the previous tensor. */
  offset?: number | bigint;
  data: Uint8Array;
}

export interface GgufSpec {
  magic?: string;
  version?: number;
  nTensors?: number | bigint;
  nKeys?: number | bigint;
  /** Writes the value type and the value. */
  keys?: [key: string | Uint8Array, write: (out: Bytes) => void][];
  tensors?: GgufTensor[];
  alignment?: number;
}

export function writeGguf(spec: GgufSpec): Uint8Array<ArrayBuffer> {
  const { keys = [], tensors = [], alignment = 32 } = spec;
  const out = new Bytes().raw(new TextEncoder().encode(spec.magic ?? 'GGUF')).u32(spec.version ?? 3);
  out.u64(spec.nTensors ?? tensors.length).u64(spec.nKeys ?? keys.length);
  for (const [key, write] of keys) {
    out.string(key);
    write(out);
  }
  const data = new Bytes();
  for (const tensor of tensors) {
    data.pad(alignment);
    out.string(tensor.name).u32(tensor.ne.length);
    for (const n of tensor.ne) out.u64(n);
    out.u32(tensor.type ?? 0).u64(tensor.offset ?? data.length);
    data.raw(tensor.data);
  }
  if (tensors.length > 0) out.pad(alignment);
  return out.raw(data.done()).done();
}

export const value = {
  u8: (n: number) => (out: Bytes) => out.u32(T.u8).u8(n),
  u16: (n: number) => (out: Bytes) => out.u32(T.u16).u16(n),
  u32: (n: number) => (out: Bytes) => out.u32(T.u32).u32(n),
  u64: (n: number | bigint) => (out: Bytes) => out.u32(T.u64).u64(n),
  f32: (n: number) => (out: Bytes) => out.u32(T.f32).f32(n),
  f64: (n: number) => (out: Bytes) => out.u32(T.f64).f64(n),
  bool: (n: number) => (out: Bytes) => out.u32(T.bool).u8(n),
  string: (s: string | Uint8Array) => (out: Bytes) => out.u32(T.string).string(s),
  strings: (list: readonly (string | Uint8Array)[], count?: number | bigint) => (out: Bytes) => {
    out
      .u32(T.array)
      .u32(T.string)
      .u64(count ?? list.length);
    for (const s of list) out.string(s);
  },
  array: (type: number, count: number | bigint, bytes: Uint8Array | number[]) => (out: Bytes) =>
    out.u32(T.array).u32(type).u64(count).raw(bytes),
};

/** n bytes 0, 1, 2 ... so that a wrong offset shows. */
export function ramp(n: number, from = 0): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: n }, (_, i) => (i + from) & 0xff);
}
