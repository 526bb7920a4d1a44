// Ranges of buffers: many of them lie in one large buffer (an arena), and a kernel binds one range, or all of them.

/** Bytes offset .. offset + size of a buffer. */
export interface BufferRange {
  buffer: GPUBuffer;
  offset: number;
  size: number;
}

/** What a binding takes: a whole buffer, or a range of one. */
export type Bindable = GPUBuffer | BufferRange;

export function rangeOf(bound: Bindable): BufferRange {
  return 'buffer' in bound ? bound : { buffer: bound, offset: 0, size: bound.size };
}

/** The next multiple of `alignment`. */
export function alignUp(bytes: number, alignment: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}
