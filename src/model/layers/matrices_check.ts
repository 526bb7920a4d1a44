// Whether products on subgroup matrices are right on a GPU: they are compared with those of the plain kernel.

import { GpuProgramError } from '../../errors';
import { rangeOf } from '../../gpu/buffer_range';
import type { Gpu } from '../../gpu/device';
import { CommandList } from '../../gpu/kernel';
import { type QuantizeActivations, wideBytes } from '../../kernels/elementwise/quantize_activations';
import { createQuantizeWide } from '../../kernels/elementwise/quantize_wide';
import { createLinear } from '../../kernels/linear/create_linear';
import { STORE } from '../../kernels/linear/epilogues/store';
import type { Linear, LinearShape } from '../../kernels/linear/linear';
import { createMatmulMatrices, planMatrices, type RowGroups } from '../../kernels/linear/matmul_matrices';
import { distanceOf } from '../distance';

/** A product that ends within a tile of each size, and takes three turns. */
const CHECKED = { rows: 200, cols: 192, nTokens: 150 };
/** Of the largest value: 16 bits on both sides are off by a thousandth at most, a wrong lane by all of it. */
const TOLERANCE = 5e-3;

const faults = new WeakMap<Gpu, Promise<string | null>>();

/** What keeps this GPU from products on subgroup matrices, or null. Found out once for each device. */
export function faultOfMatrices(gpu: Gpu): Promise<string | null> {
  const fault = faults.get(gpu) ?? compareProducts(gpu);
  faults.set(gpu, fault);
  return fault;
}

async function compareProducts(gpu: Gpu): Promise<string | null> {
  const { rows, cols, nTokens } = CHECKED;
  const made: GPUBuffer[] = [];
  const upload = (label: string, data: ArrayBufferView<ArrayBuffer>) => {
    const buffer = gpu.upload(`matrices.${label}`, data);
    made.push(buffer);
    return buffer;
  };
  try {
    const random = randomBits(1);
    const weights = upload('weights', new Uint32Array((rows * cols) / 8).map(random));
    const scales = upload(
      'scales',
      new Uint16Array((rows * cols) / 32).map(() => 0x2000 | (random() & 0x87ff)),
    );
    const x = upload(
      'x',
      new Float32Array(nTokens * cols).map(() => random() / 2 ** 31 - 1),
    );
    const params = upload('params', new Float32Array(4));
    const xq = upload('xq', new Uint8Array(wideBytes(nTokens, cols)));
    const run = {
      parts: [{ format: 'q4', row0: 0, rows, weights: rangeOf(weights), scales: rangeOf(scales) }],
    } as const;
    const shape: LinearShape = { rows, cols, format: 'q4', normEps: null, bias: false };
    const products = async (linear: Linear, from: GPUBuffer, quantize?: QuantizeActivations) => {
      const y = upload('y', new Float32Array(nTokens * rows).fill(Number.NaN));
      const list = new CommandList(gpu);
      quantize?.record(list, quantize.bind(x, params, xq), nTokens);
      linear.record(list, linear.bind(run, from, params, y), nTokens);
      await list.run({ position: 0, nTokens });
      return new Float32Array(await gpu.read(y));
    };
    const plain = await products(await createLinear(gpu, 'prefill', shape, STORE, 'f32', null), x);
    const quantize = await createQuantizeWide(gpu, { cols, normEps: null });
    for (const groups of sizesOf(gpu)) {
      const y = await products(await createMatmulMatrices(gpu, shape, STORE, groups), xq, quantize);
      const distance = distanceOf(y, plain);
      if (!(distance < TOLERANCE)) return `tiles of ${32 * groups} rows are off by ${distance.toPrecision(2)}`;
    }
    return null;
  } catch (error) {
    if (!(error instanceof GpuProgramError)) throw error;
    return error.message;
  } finally {
    for (const buffer of made) gpu.destroyBuffer(buffer);
  }
}

/** The tiles that run on this GPU. */
function sizesOf({ limits }: Gpu): readonly RowGroups[] {
  const of = (rows: number) => planMatrices(limits, { rows, cols: 64, format: 'q4', normEps: null, bias: false });
  return [...new Set([of(64), of(65536)])].filter((groups) => groups !== null);
}

/** Words of 32 bits from a seed. */
function randomBits(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state ^ (state >>> 15)) >>> 0;
  };
}
