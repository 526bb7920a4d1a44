// Ranges of buffers: many of them lie in one large buffer (an arena), and a kernel binds one range, or all of them.

/** Bytes offset .. offset + size of a buffer. */
export interface BufferRange {
  buffer: GPUBuffer;
  offset: number;
  size: number;
}

/** The resource of a binding: a whole buffer, or a range of one. */
export type Bindable = GPUBuffer | BufferRange;

export function rangeOf(bound: Bindable): BufferRange {
  return 'buffer' in bound ? bound : { buffer: bound, offset: 0, size: bound.size };
}

/** The bytes that a buffer, or a range of one, gets for `size` bytes: no binding is empty. */
export function storedBytes(size: number): number {
  return Math.max(16, Math.ceil(size / 4) * 4);
}

/** The distance of two ranges of `size` bytes. Devices bind multiples of 256 (minStorageBufferOffsetAlignment). */
export function rangeStride(size: number): number {
  return Math.ceil(storedBytes(size) / 256) * 256;
}
