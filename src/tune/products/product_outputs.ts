// Outputs of a product as numbers: reset before a run, read after it, and compared with those of the default.

import { halfToNumber } from '../../cpu/half';
import { rangeOf } from '../../gpu/buffer_range';
import { GPU_COPY_DST, GPU_MAP_READ, type Gpu } from '../../gpu/device';
import type { MadeLinear } from '../../kernels/linear/create_linear';
import type { EpilogueOutput } from '../../kernels/linear/linear';
import { BLOCK } from '../../kernels/linear/weight_format';
import { type Reason, why } from '../../shared/why';

export interface Values {
  values: Float32Array;
  /** The distance between neighboring values of the encoding, at each value; null where it is negligible. */
  steps: Float32Array | null;
}

/** NaN as f32, as f16 and as a scale: a value that was not written shows. */
const POISON = 0x7fff7fff;

/** A share of the RMS of the output: sums differ in their order, and activations may round the other way. */
const TOLERANCE = 0.02;
/** Steps by which a quantized output may differ: one, and the rounding of the sum. */
const STEPS = 1.01;

/** Writes `before` where the product is added, and NaN elsewhere. `before` is at least as long as the output. */
export function resetOutputs(gpu: Gpu, product: MadeLinear, nTokens: number, before: Float32Array<ArrayBuffer>): void {
  for (const { output, buffer } of outputsOf(product, nTokens)) {
    const { adds, bytes } = output;
    const values = adds ? before.subarray(0, bytes / 4) : new Uint32Array(bytes / 4).fill(POISON);
    for (const offset of offsetsOf(output)) gpu.write(buffer, values, offset);
  }
}

/** The outputs as they are now. */
export async function readOutputs(gpu: Gpu, product: MadeLinear, nTokens: number): Promise<Values[]> {
  const outputs = outputsOf(product, nTokens);
  const total = outputs.reduce((sum, { output }) => sum + bytesOf(output), 0);
  const target = gpu.createBuffer('tune.outputs', total, GPU_MAP_READ | GPU_COPY_DST);
  try {
    const encoder = gpu.device.createCommandEncoder({ label: 'tune.outputs' });
    let at = 0;
    for (const { output, buffer: source } of outputs) {
      const { buffer, offset: first } = rangeOf(source);
      for (const offset of offsetsOf(output)) {
        encoder.copyBufferToBuffer(buffer, first + offset, target, at, output.bytes);
        at += output.bytes;
      }
    }
    gpu.submit(encoder.finish());
    const read = await gpu.readMapped(target, total);
    let begin = 0;
    return outputs.map(({ output }) => {
      const end = begin + bytesOf(output);
      const values = decode(read.slice(begin, end), output.encoding);
      begin = end;
      return values;
    });
  } finally {
    gpu.destroyBuffer(target);
  }
}

/** The outputs of the epilogue with their buffers. */
function outputsOf({ epilogue, shape, buffers: [, ...own] }: MadeLinear, nTokens: number) {
  return epilogue.outputs(shape.rows, nTokens).map((output) => ({ output, buffer: own[output.buffer] }));
}

const bytesOf = ({ bytes, runs = 1 }: EpilogueOutput): number => bytes * runs;

const offsetsOf = ({ runs = 1, stride = 0 }: EpilogueOutput): number[] =>
  Array.from({ length: runs }, (_, i) => i * stride);

function decode(bytes: ArrayBuffer, encoding: EpilogueOutput['encoding']): Values {
  switch (encoding) {
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
      throw encoding satisfies never;
  }
}

/** The first difference from the outputs of the default, as a fragment of a sentence, or null. */
export function faultOf(expected: readonly Values[], got: readonly Values[]): Reason | null {
  for (const [i, { values, steps }] of expected.entries()) {
    const tolerance = TOLERANCE * rms(values);
    for (let j = 0; j < values.length; j++) {
      const off = Math.abs(got[i].values[j] - values[j]);
      if (!(off <= tolerance + (steps ? STEPS * steps[j] : 0))) {
        return why`its value ${j} is ${got[i].values[j]}, that of the default is ${values[j]}`;
      }
    }
  }
  return null;
}

function rms(values: Float32Array): number {
  return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / Math.max(1, values.length));
}
