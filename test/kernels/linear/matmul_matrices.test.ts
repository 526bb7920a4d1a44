// Products on subgroup matrices: which shapes and GPUs take them, that the browser's compiler takes their source, and
// that a GPU without them does as before. No GPU here multiplies matrices: `bench matrices` compares them with the
// textbook where one does.

import { describe, expect, test } from 'vitest';
import { create } from 'webgpu';
import { Gpu } from '../../../src/gpu/device';
import { capabilities } from '../../../src/gpu/limits';
import { gateUpEpilogue } from '../../../src/kernels/linear/epilogues/gate_up';
import { qkvEpilogue } from '../../../src/kernels/linear/epilogues/qkv';
import { residualEpilogue } from '../../../src/kernels/linear/epilogues/residual';
import { STORE } from '../../../src/kernels/linear/epilogues/store';
import type { LinearShape } from '../../../src/kernels/linear/linear';
import { createMatmulMatrices, planMatrices } from '../../../src/kernels/linear/matmul_matrices';
import type { Arithmetic } from '../../../src/model/layers/arithmetic';
import type { LongLinear, Operation } from '../../../src/model/layers/linears';
import { MatrixPasses } from '../../../src/model/layers/matrices';
import { hardwareGpu } from '../../gpu/test_device';

const LIMITS = { maxComputeInvocationsPerWorkgroup: 1024, maxComputeWorkgroupStorageSize: 49152 };
const shapeOf = (rows: number, cols: number, rest: Partial<LinearShape> = {}): LinearShape => ({
  rows,
  cols,
  format: 'q4',
  normEps: null,
  bias: false,
  ...rest,
});

describe('the plan', () => {
  test('takes tiles of 128 rows where they fill a large GPU, else of 64', () => {
    const planned = [16384, 3072, 2048, 64].map((rows) => planMatrices(LIMITS, shapeOf(rows, 2048)));
    expect(planned).toEqual([4, 4, 2, 2]);
  });

  test('counts the rows of its own parts alone', () => {
    const parts = [{ row0: 0, rows: 128 }];
    expect(planMatrices(LIMITS, shapeOf(16384, 2048, { parts }))).toBe(2);
  });

  test('refuses other formats, columns that are no whole turn, and sums that could overflow', () => {
    const refused = [shapeOf(64, 64, { format: 'q8' }), shapeOf(64, 96), shapeOf(64, 65600)];
    expect(refused.map((shape) => planMatrices(LIMITS, shape))).toEqual([null, null, null]);
    expect(planMatrices(LIMITS, shapeOf(64, 65536))).toBe(2);
  });

  test('falls back to smaller tiles, then to none, where a GPU grants less', () => {
    const of = (limits: Partial<typeof LIMITS>) => planMatrices({ ...LIMITS, ...limits }, shapeOf(16384, 2048));
    expect(of({ maxComputeWorkgroupStorageSize: 32768 })).toBe(2);
    expect(of({ maxComputeInvocationsPerWorkgroup: 256 })).toBe(2);
    expect(of({ maxComputeWorkgroupStorageSize: 16384 })).toBeNull();
  });
});

/** The parts of an adapter that the capability asks. */
const adapterOf = (features: string[], info: object) =>
  ({ features: new Set(features), info, limits: {} }) as unknown as GPUAdapter;
const FEATURES = ['subgroups', 'chromium-experimental-subgroup-matrix'];
const BYTES = { componentType: 'i8', resultComponentType: 'i32', M: 16, N: 16, K: 32 };
const INFO = { subgroupMinSize: 32, subgroupMaxSize: 32, subgroupMatrixConfigs: [BYTES] };
const LANGUAGE = new Set<string>() as unknown as WGSLLanguageFeatures;

test('the capability needs the feature, subgroups of 32 and products of bytes', () => {
  const can = (features: string[], info: object, without: 'subgroups'[] = []) =>
    capabilities(adapterOf(features, info), LANGUAGE, without).matrices;
  expect(can(FEATURES, INFO)).toBe(true);
  expect(can(['subgroups'], INFO)).toBe(false);
  expect(can(FEATURES, { ...INFO, subgroupMinSize: 8 })).toBe(false);
  expect(can(FEATURES, { ...INFO, subgroupMatrixConfigs: [{ ...BYTES, componentType: 'f16' }] })).toBe(false);
  expect(can(FEATURES, { ...INFO, subgroupMatrixConfigs: undefined })).toBe(false);
  expect(can(FEATURES, INFO, ['subgroups'])).toBe(false);
});

// A constant of the module: Dawn and its devices are freed when it is collected.
const dawn = create(['backend=null', 'enable-dawn-features=allow_unsafe_apis']);

/** Dawn's null backend, as an adapter that multiplies bytes: it compiles shaders, and runs nothing. */
function nullGpu(): Promise<Gpu> {
  const requestAdapter = async () => {
    const adapter = (await dawn.requestAdapter()) as GPUAdapter;
    const { features, limits } = adapter;
    return {
      features,
      limits,
      info: INFO,
      requestDevice: (asked: GPUDeviceDescriptor) => adapter.requestDevice(asked),
    };
  };
  const gpu = { requestAdapter, wgslLanguageFeatures: dawn.wgslLanguageFeatures } as unknown as GPU;
  return Gpu.request({ gpu });
}

describe('the source', () => {
  const shape = shapeOf(4096, 2048, { normEps: 1e-5, bias: true });
  const qkv = qkvEpilogue({ nHeads: 32, nKvHeads: 16, headDim: 64, contextLength: 8, kvType: 'f16' });
  for (const epilogue of [STORE, residualEpilogue(1), gateUpEpilogue('silu'), qkv]) {
    test(`is valid with ${epilogue.label}: only the memory of this device is too small`, async () => {
      const gpu = await nullGpu();
      expect(gpu.can.matrices).toBe(true);
      for (const groups of [2, 4] as const) {
        const refused = createMatmulMatrices(gpu, shape, epilogue, groups);
        await expect(refused).rejects.toThrow(/workgroup storage|workgroup_size/);
      }
    });
  }
});

describe('the choice', () => {
  const q8 = { decode: 'q8', prefill: 'q8' } as const;
  const gpu = { limits: LIMITS, can: { matrices: true } } as unknown as Gpu;
  const plain: Operation = { record: () => {} };
  const linear = { runs: [{ shape: shapeOf(64, 96) }] } as unknown as LongLinear;

  test('is the plain kernel where prompts run in f32, where it is turned off, and where a product is wrong', async () => {
    const chosen = async (...[arithmetic, from, fault]: [Arithmetic, number?, string?]) => {
      const passes = await MatrixPasses.create(gpu, arithmetic, from, async () => fault ?? null);
      expect(await passes.besides(plain, linear)).toBeNull();
      expect(passes.choice.used).toBe(false);
      return passes.choice.reason;
    };
    expect(await chosen({ ...q8, prefill: 'f32' })).toBe('prompts run in f32');
    expect(await chosen(q8, Number.POSITIVE_INFINITY)).toBe('turned off by name');
    expect(await chosen(q8, undefined, 'tiles of 64 rows are off by 1.0')).toBe('tiles of 64 rows are off by 1.0');
    expect(await chosen(q8)).toBe('no matrix of this model has a shape and a format for them');
  });
});

test('a GPU that grants no matrices does not load them', async () => {
  const gpu = await hardwareGpu();
  expect(gpu.can.matrices).toBe(false);
});
