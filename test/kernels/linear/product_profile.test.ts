// Tuned parameters by the key of a linear, and the fallback where they do not run.

import { expect, test } from 'vitest';
import { linear } from '../../../src/cpu/linear';
import { CommandList } from '../../../src/gpu/kernel';
import { createLinear } from '../../../src/kernels/linear/create_linear';
import { residualEpilogue } from '../../../src/kernels/linear/epilogues/residual';
import { type ProductProfile, productKey } from '../../../src/kernels/linear/product_profile';
import { assertClose } from '../../close';
import { hardwareGpu } from '../../gpu/test_device';
import { randomArray } from '../../random';
import { randomMatrix, readFloats } from '../matrix';

const RESIDUAL = residualEpilogue(1);

const SHAPE = { rows: 65, cols: 96, format: 'q4', normEps: null, bias: false } as const;
const KEY = 'residual 65x96 q4 f32';
const TUNED = { WORKGROUP: 32, LANES: 2, GROUP_ROWS: 2, SLOTS: 2, TURNS: 1 };

function profile(entry: object, tiles: object = {}): ProductProfile {
  return { matvec: { [KEY]: entry }, tiles } as unknown as ProductProfile;
}

test('a key tells labels, shapes, formats and inputs apart', () => {
  expect(productKey(RESIDUAL.label, SHAPE, 'f32')).toBe(KEY);
  const keys = [
    KEY,
    productKey('kernels/head', SHAPE, 'f32'),
    productKey(RESIDUAL.label, { ...SHAPE, rows: 64 }, 'f32'),
    productKey(RESIDUAL.label, { ...SHAPE, cols: 64 }, 'f32'),
    productKey(RESIDUAL.label, { ...SHAPE, format: 'q8' }, 'f32'),
    productKey(RESIDUAL.label, SHAPE, 'to_q8'),
    productKey(RESIDUAL.label, SHAPE, 'parts_to_q8'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  // Of a matrix that mixes formats, the rows of its own parts count.
  const half = { ...SHAPE, rows: 2 * SHAPE.rows, parts: [{ row0: SHAPE.rows, rows: SHAPE.rows }] };
  expect(productKey(RESIDUAL.label, half, 'f32')).toBe(productKey(RESIDUAL.label, SHAPE, 'f32'));
});

test.each([
  ['what was tuned', profile(TUNED), 3],
  ['the defaults where nothing was', profile({}, {}), 0],
  ['the defaults where there is no profile', null, 0],
  ['the defaults where what was tuned does not fit', profile({ ...TUNED, WORKGROUP: 65536 }), 0],
  ['the defaults where what was tuned is no parameter set at all', profile({ WORKGROUP: 'x' }), 0],
])('a product runs on %s', async (_, given, workgroups) => {
  const gpu = await hardwareGpu();
  const { matrix, values } = await randomMatrix(gpu, 'q4', 65, 96, 1);
  const tuned = given && Object.keys(given.matvec[KEY]).length === 0 ? { ...given, matvec: {} } : given;
  const kernel = await createLinear(gpu, 'decode', SHAPE, RESIDUAL, 'f32', tuned);
  const x = randomArray(96, 2, 1);
  const residual = gpu.upload('residual', new Float32Array(65));
  const list = new CommandList(gpu);
  const groups = kernel.bind(matrix, gpu.upload('x', x), gpu.upload('params', new Float32Array(4)), residual);
  kernel.record(list, groups, 1);
  if (workgroups > 0) expect(list.commands[0].x).toBe(workgroups);
  list.run({ position: 0, nTokens: 1 });
  assertClose(await readFloats(gpu, residual, 65), linear(x, values, null), 1e-5);
  expect(gpu.failure).toBeNull();
});

test('tiles that do not fit are as if they were not there', async () => {
  const gpu = await hardwareGpu();
  const tiles = { 'residual 65x96 q4 q8': { rowThreads: 512, tokenThreads: 512, tokensEach: 8, stages: 2 } };
  const kernel = await createLinear(gpu, 'prefill', SHAPE, RESIDUAL, 'q8', profile(TUNED, tiles));
  const { matrix } = await randomMatrix(gpu, 'q4', 65, 96, 1);
  const buffer = gpu.upload('any', new Float32Array(4096));
  const list = new CommandList(gpu);
  kernel.record(
    list,
    kernel.bind(matrix, buffer, gpu.upload('params', new Float32Array(4)), gpu.upload('out', new Float32Array(4096))),
    33,
  );
  expect(list.commands).toHaveLength(1);
  expect(gpu.failure).toBeNull();
});
