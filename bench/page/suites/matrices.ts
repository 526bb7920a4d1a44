// `bench -- matrices`: products on subgroup matrices against the textbook, at the edges of their tiles; then their
// times beside those of matmul_q8. No test has a GPU with such matrices: here the kernel is held to its oracle.

import { halfToNumber } from '../../../src/cpu/half';
import { VivaceError } from '../../../src/errors';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../../../src/gpu/device';
import { CommandList } from '../../../src/gpu/kernel';
import { timePass } from '../../../src/gpu/time_pass';
import {
  createQuantizeActivations,
  type QuantizeActivations,
  wideBytes,
} from '../../../src/kernels/elementwise/quantize_activations';
import { createQuantizeWide } from '../../../src/kernels/elementwise/quantize_wide';
import { STORE } from '../../../src/kernels/linear/epilogues/store';
import type { Linear, LinearShape } from '../../../src/kernels/linear/linear';
import { createMatmulMatrices, planMatrices, type RowGroups } from '../../../src/kernels/linear/matmul_matrices';
import { createMatmulQ8 } from '../../../src/kernels/linear/matmul_q8';
import { faultOfMatrices } from '../../../src/model/layers/matrices_check';
import { randomArray } from '../../../test/random';
import type { BenchResult, MatricesRow } from '../../report';
import type { Bench } from '../bench';
import { matrixShapes, syntheticConfig } from '../synthetic/synthetic_config';

/** Rows, columns and tokens one below, at and one above what a tile, a subgroup or a turn has. */
const EDGES = [
  [1, 64, 1],
  [31, 64, 33],
  [63, 128, 127],
  [64, 192, 128],
  [66, 64, 129],
  [127, 256, 255],
  [130, 320, 257],
] as const;
const LENGTHS = [257, 512];
/** Buffers of weights in turns, so that none is read from a cache. */
const COPIES = 4;
/** Products whose textbook would take longer are compared at this many places. */
const MOST_COMPARED = 4000;
const TIMING = { minMs: 20, rounds: 5, warmMs: 800, minRepeats: COPIES, budgetMs: 2000 };
const USAGE = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;

export async function matricesSuite(bench: Bench): Promise<BenchResult> {
  const { gpu, request } = bench;
  const fault = gpu.can.matrices ? await faultOfMatrices(gpu) : 'the browser grants none that multiply bytes';
  const rows: MatricesRow[] = [];
  const result = { suite: 'matrices', fault, rows } as const;
  if (fault !== null) return result;
  for (const [nRows, cols, nTokens] of EDGES) {
    for (const groups of [2, 4] as const) {
      if (bench.stopped) return result;
      rows.push(await measure(bench, { name: 'edge', rows: nRows, cols, nTokens, groups, isTimed: false }));
    }
  }
  for (const shape of request.shapes) {
    for (const { kind, rows: nRows, cols } of matrixShapes(syntheticConfig(shape, 512))) {
      for (const nTokens of kind === 'head' ? [] : (request.lengths ?? LENGTHS)) {
        if (bench.stopped) return result;
        rows.push(await measure(bench, { name: `${shape} ${kind}`, rows: nRows, cols, nTokens, isTimed: true }));
        bench.say({ text: `${shape} ${kind}, ${nTokens} tokens`, done: rows.length });
      }
    }
  }
  return result;
}

interface Asked {
  name: string;
  rows: number;
  cols: number;
  nTokens: number;
  /** Default: those of the plan. */
  groups?: RowGroups;
  isTimed: boolean;
}

/** Random operands, as they lie on the GPU. */
interface Operands {
  q: Uint32Array<ArrayBuffer>;
  scales: Uint16Array<ArrayBuffer>;
  bias: Float32Array<ArrayBuffer>;
  x: Float32Array<ArrayBuffer>;
}

function operandsOf({ rows, cols, nTokens }: Asked): Operands {
  const random = randomArray(1 << 16, rows + cols);
  const at = (i: number) => random[(i * 40503 + (i >>> 16)) & 0xffff];
  return {
    q: new Uint32Array((rows * cols) / 8).map((_, i) => at(i) * 2 ** 31 + at(i + 7) * 2 ** 16),
    // both signs, magnitudes from 2^-7 to 2^-4
    scales: new Uint16Array((rows * cols) / 32).map(
      (_, i) => 0x2000 + Math.abs(at(i)) * 0xc00 + (at(i + 3) < 0 ? 0x8000 : 0),
    ),
    bias: randomArray(Math.ceil(rows / 4) * 4, 2),
    x: new Float32Array(nTokens * cols).map((_, i) => at(i) * (i % 997 === 0 ? 40 : 1)),
  };
}

async function measure({ gpu }: Bench, asked: Asked): Promise<MatricesRow> {
  const { name, rows, cols, nTokens, isTimed } = asked;
  const shape: LinearShape = { rows, cols, format: 'q4', normEps: null, bias: true };
  const groups = asked.groups ?? planMatrices(gpu.limits, shape);
  if (!groups) throw new VivaceError('internal', `${name}: ${rows} x ${cols} does not fit subgroup matrices.`);
  const operands = operandsOf(asked);
  return gpu.trial(name, async () => {
    const buffers = upload(gpu, asked, operands);
    const [wide, bytes, matrices, plain] = await Promise.all([
      createQuantizeWide(gpu, { cols, normEps: null }),
      createQuantizeActivations(gpu, { cols, normEps: null, blocksFirst: true }),
      createMatmulMatrices(gpu, shape, STORE, groups),
      createMatmulQ8(gpu, { ...shape, format: 'q4' }, STORE),
    ]);
    const way = async (quantize: QuantizeActivations, linear: Linear) => {
      const bound = buffers.weights.map((planes) => {
        const run = { parts: [{ format: 'q4' as const, row0: 0, rows, ...planes }] };
        return linear.bind(run, buffers.xq, buffers.bias, buffers.y);
      });
      const list = new CommandList(gpu);
      quantize.record(list, quantize.bind(buffers.x, buffers.bias, buffers.xq), nTokens);
      linear.record(list, bound[0], nTokens);
      await list.run({ position: 0, nTokens });
      const error = errorOf(asked, operands, new Float32Array(await gpu.read(buffers.y)));
      const add = (to: CommandList, repeat: number) => linear.record(to, bound[repeat % COPIES], nTokens);
      const ms = isTimed ? (await timePass(gpu, { position: 0, nTokens }, add, TIMING)).ms : null;
      return { error, ms };
    };
    const plainly = await way(bytes, plain);
    return { name, rows, cols, nTokens, tileRows: 32 * groups, plain: plainly, matrices: await way(wide, matrices) };
  });
}

function upload(gpu: Gpu, { rows, nTokens, cols }: Asked, { q, scales, bias, x }: Operands) {
  const range = (label: string, data: Uint32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>) => {
    const buffer = gpu.upload(label, data);
    return { buffer, offset: 0, size: buffer.size };
  };
  return {
    weights: Array.from({ length: COPIES }, () => ({ weights: range('weights', q), scales: range('scales', scales) })),
    bias: gpu.upload('bias', bias),
    x: gpu.upload('x', x),
    xq: gpu.createBuffer('xq', Math.ceil(wideBytes(nTokens, cols) / 16) * 16, USAGE),
    y: gpu.createBuffer('y', 4 * nTokens * rows, USAGE),
  };
}

/** The largest difference from the textbook in doubles, as a share of the root of the sum of its products' squares. */
function errorOf({ rows, cols, nTokens }: Asked, { q, scales, bias, x }: Operands, y: Float32Array): number {
  const count = rows * nTokens;
  const stride = count > MOST_COMPARED ? Math.ceil(count / MOST_COMPARED) | 1 : 1;
  let worst = 0;
  for (let place = 0; place < count; place += stride) {
    const at = count - 1 - place; // with the last one of all
    const [token, row] = [Math.floor(at / rows), at % rows];
    let [sum, squares] = [0, 0];
    for (let k = 0; k < cols; k++) {
      const block = (row * cols + k) >> 5;
      const word = q[block * 4 + ((k & 15) >> 2)];
      const nibble = (word >>> (8 * (k & 3) + (k & 16 ? 4 : 0))) & 15;
      const product = halfToNumber(scales[block]) * (nibble - 8) * x[token * cols + k];
      sum += product;
      squares += product * product;
    }
    const error = Math.abs(y[at] - sum - bias[row]) / Math.sqrt(squares || 1);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}
