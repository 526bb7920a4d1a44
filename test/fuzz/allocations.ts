// Counts the bytes of array buffers created by length. No heap limit counts them, and untouched zero pages are not
// resident either. Buffers made from a list or another buffer are no larger than that.

const TYPES = [
  ...(['ArrayBuffer', 'Uint8Array', 'Int8Array', 'Uint8ClampedArray', 'Uint16Array', 'Int16Array'] as const),
  ...(['Uint32Array', 'Int32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'] as const),
];
let bytes = 0;

/** All bytes allocated since the start. */
export function allocatedBytes(): number {
  return bytes;
}

for (const name of TYPES) {
  const type = globalThis[name] as unknown as new (...args: unknown[]) => object;
  const width = 'BYTES_PER_ELEMENT' in type ? Number(type.BYTES_PER_ELEMENT) : 1;
  const counted = new Proxy(type, {
    construct(target, args: unknown[], newTarget) {
      const made: object = Reflect.construct(target, args, newTarget);
      if (typeof args[0] === 'number') bytes += args[0] * width;
      return made;
    },
  });
  Object.assign(globalThis, { [name]: counted });
}
