// What a product writes, as numbers that can be compared: where it lies, how it is read, and how far candidates may differ.

import { halfToNumber } from '../cpu/dequantize';
import { GPU_COPY_DST, GPU_MAP_READ, type Gpu } from '../gpu/device';
import { BLOCK } from '../kernels/linear/weight_format';

/** A run of bytes, multiples of 4, in a buffer. */
interface Range {
  buffer: GPUBuffer;
  offset: number;
  bytes: number;
}

/** `q8`: one token in the layout of kernels/quantize_activations. `key`: of lib/logit_key. */
type Encoding = 'f32' | 'f16' | 'q8' | 'key';

export interface Output {
  ranges: readonly Range[];
  as: Encoding;
  /** It is added to what is there. */
  adds?: boolean;
}

export interface Values {
  values: Float32Array;
  /** How far apart two neighboring values of the encoding are, at each value; null for those that are fine enough. */
  steps: Float32Array | null;
}

/** As f32, as f16 and as a scale it is no number: what is left of it was not written. */
const POISON = 0x7fff7fff;

/** Sums in another order, and a rounding of an activation that fell the other way, as a share of the output's RMS. */
const TOLERANCE = 0.02;
/** Of an output in steps: one more, and what rounding adds to it. */
const STEPS = 1.01;

const bytesOf = ({ ranges }: Output): number => ranges.reduce((sum, { bytes }) => sum + bytes, 0);

/** Outputs that are added to become `before`, which has as many values or more; others become no numbers. */
export function resetOutputs(gpu: Gpu, outputs: readonly Output[], before: Float32Array<ArrayBuffer>): void {
  for (const { ranges, adds } of outputs) {
    for (const { buffer, offset, bytes } of ranges) {
      gpu.write(buffer, adds ? before.subarray(0, bytes / 4) : new Uint32Array(bytes / 4).fill(POISON), offset);
    }
  }
}

/** The outputs as they are now. */
export async function readOutputs(gpu: Gpu, outputs: readonly Output[]): Promise<Values[]> {
  const bytes = outputs.reduce((sum, output) => sum + bytesOf(output), 0);
  const target = gpu.createBuffer('tune_products.read', bytes, GPU_MAP_READ | GPU_COPY_DST);
  try {
    const encoder = gpu.device.createCommandEncoder({ label: 'tune_products.read' });
    let at = 0;
    for (const range of outputs.flatMap(({ ranges }) => ranges)) {
      encoder.copyBufferToBuffer(range.buffer, range.offset, target, at, range.bytes);
      at += range.bytes;
    }
    gpu.submit(encoder.finish());
    const read = await gpu.readMapped(target, bytes);
    let begin = 0;
    return outputs.map((output) => {
      const end = begin + bytesOf(output);
      const values = decode(read.slice(begin, end), output.as);
      begin = end;
      return values;
    });
  } finally {
    gpu.destroyBuffer(target);
  }
}

function decode(bytes: ArrayBuffer, as: Encoding): Values {
  switch (as) {
    case 'f32':
      return { values: new Float32Array(bytes), steps: null };
    case 'f16':
      return { values: Float32Array.from(new Uint16Array(bytes), halfToNumber), steps: null };
    case 'q8': {
      const count = bytes.byteLength / (1 + 4 / BLOCK);
      const d = new Float32Array(bytes, count);
      const steps = Float32Array.from({ length: count }, (_, i) => d[Math.floor(i / BLOCK)]);
      return { values: Float32Array.from(new Int8Array(bytes, 0, count), (q, i) => q * steps[i]), steps };
    }
    case 'key': {
      const logits = Uint32Array.from(new Uint32Array(bytes), (key) => (key >= 2 ** 31 ? key ^ (2 ** 31) : ~key));
      return { values: new Float32Array(logits.buffer), steps: null };
    }
    default:
      throw as satisfies never;
  }
}

/** Why `got` is not what the default wrote, as a fragment of a sentence, or null. */
export function faultOf(expected: readonly Values[], got: readonly Values[]): string | null {
  for (const [i, { values, steps }] of expected.entries()) {
    const tolerance = TOLERANCE * rms(values);
    for (let j = 0; j < values.length; j++) {
      const off = Math.abs(got[i].values[j] - values[j]);
      if (!(off <= tolerance + (steps ? STEPS * steps[j] : 0))) {
        return `its value ${j} is ${got[i].values[j]}, that of the default is ${values[j]}`;
      }
    }
  }
  return null;
}

function rms(values: Float32Array): number {
  return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / Math.max(1, values.length));
}
