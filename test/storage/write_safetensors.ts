// Writes small safetensors files for tests. The header can be replaced by any text.

export interface SafeTensor {
  dtype: string;
  shape: number[];
  data: Uint8Array;
}

export function writeSafetensors(
  tensors: Record<string, SafeTensor>,
  metadata?: Record<string, string>,
): Uint8Array<ArrayBuffer> {
  const header: Record<string, unknown> = metadata ? { __metadata__: metadata } : {};
  const data: number[] = [];
  for (const [name, tensor] of Object.entries(tensors)) {
    const begin = data.length;
    data.push(...tensor.data);
    header[name] = { dtype: tensor.dtype, shape: tensor.shape, data_offsets: [begin, data.length] };
  }
  return withHeader(JSON.stringify(header), Uint8Array.from(data));
}

/** Length prefix, header text, data. `length` replaces the prefix. */
export function withHeader(
  header: string | Uint8Array,
  data: Uint8Array = new Uint8Array(0),
  length?: bigint,
): Uint8Array<ArrayBuffer> {
  const text = typeof header === 'string' ? new TextEncoder().encode(header) : header;
  const file = new Uint8Array(8 + text.length + data.length);
  new DataView(file.buffer).setBigUint64(0, length ?? BigInt(text.length), true);
  file.set(text, 8);
  file.set(data, 8 + text.length);
  return file;
}
