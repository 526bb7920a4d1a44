// The tests that every attention sibling must pass, on every path: with subgroups or without, and so on. A sibling's test
// file calls testSibling with its name.

import { describe, expect, test } from 'vitest';
import type { AttentionName, AttentionShape } from '../../src/attention/attention';
import { createAttention } from '../../src/attention/create';
import { selectAttention } from '../../src/attention/select';
import { roundedToBytes } from '../../src/cpu/quantize_activations';
import { AttentionUnavailable } from '../../src/errors';
import type { CapabilityName } from '../../src/gpu/limits';
import { hardwareGpu, PATHS, pathName } from '../gpu/test_device';
import { bothWaysCases, eitherCases, scored, scoredCases } from './baselines/scored_cases';
import { modelBuffers } from './buffers';
import {
  type AttentionCase,
  CASES,
  COMMON,
  casesOf,
  type Half,
  LARGE,
  LARGE_CASES,
  PROGRESS,
  PROGRESS_BY_TOKEN,
  passOf,
  plainTileCasesOf,
  tileCasesOf,
} from './cases';
import { attentionRef } from './oracle';
import { attentionOnGpu, type Pass, replayOnGpu, rounded, type Target } from './run';

/**
 * Largest difference of an output from the f64 textbook, as a share of the largest |v|, which bounds every output. The
 * textbook reads the values that the cache holds after rounding, so f16 and f32 caches share the bound.
 */
const BOUND = 1e-5;

/** Siblings with parameters of their own for a GPU in software. */
const IN_SOFTWARE: readonly AttentionName[] = ['flash_prefill', 'fused_decode', 'split_kv_decode'];

/**
 * Declares the tests of a sibling. Compiling takes most of their time, so each sibling gets one half of the shapes.
 * @param half of the shapes: 0 or 1
 * @param differs true if the sibling's source differs by path. The paths of the others differ only in the way in which
 *   a kernel gets its step, and PROGRESS is enough for them. Siblings that differ see one token in a workgroup.
 */
export function testSibling(name: AttentionName, half: Half, { differs = false } = {}): void {
  for (const without of PATHS) {
    const isPlain = without.length > 0;
    describe(`${name}, ${pathName(without)}`, () => {
      const shared = isPlain ? PROGRESS : casesOf(half);
      const owned = isPlain ? plainTileCasesOf(half) : tileCasesOf(half);
      for (const c of differs ? owned : shared) test(c.title, () => checkCase({ name, without }, c));
      for (const c of [...scoredCases(kvTypeOf(without)), ...eitherCases(isPlain), ...bothWaysCases(isPlain)])
        test(c.title, () => checkCase({ name, without }, c));
      seedTests({ name, without }, differs);
      memoryTests({ name, without });
    });
  }
  if (!IN_SOFTWARE.includes(name)) return;
  describe(`${name}, in software`, () => {
    const cases = differs ? PROGRESS_BY_TOKEN : PROGRESS;
    for (const c of cases) test(c.title, () => checkCase({ name, without: [], inSoftware: true }, c));
  });
}

/** Cases of shapes with a cap and windows, which are compiled for one type of cache on each path. */
function kvTypeOf(without: readonly CapabilityName[]): 'f16' | 'f32' {
  return without.length === 0 ? 'f16' : 'f32';
}

/** The textbook's result of a pass. */
interface Expected {
  pass: Pass;
  want: Float32Array;
  /** The largest |v|. */
  scale: number;
}

/** Of the cases of several paths, made once: the textbook takes as long as the kernels. */
const expectations = new WeakMap<Omit<AttentionCase, 'title'>, Expected>();

function expectationOf(c: Omit<AttentionCase, 'title'>): Expected {
  const known = expectations.get(c) ?? expected(inBytes(passOf(c)));
  expectations.set(c, known);
  return known;
}

/** Some siblings quantize q beside keys in signed bytes: q is what bytes hold exactly. */
function inBytes(pass: Pass): Pass {
  const { kvType, headDim } = pass.shape;
  return kvType === 'q8' ? { ...pass, q: roundedToBytes(pass.q, headDim) } : pass;
}

function expected(pass: Pass): Expected {
  const v = rounded(pass.v, pass.shape);
  const want = attentionRef(pass.q, rounded(pass.k, pass.shape), v, pass.shape, pass);
  let scale = 0;
  for (const x of v) if (Math.abs(x) > scale) scale = Math.abs(x); // a NaN is not above
  return { pass, want, scale };
}

async function checkCase(target: Target, c: Omit<AttentionCase, 'title'>): Promise<void> {
  const known = expectationOf(c);
  expectClose(await attentionOnGpu(target, known.pass), known, c.fill?.bound);
}

function expectClose(got: Float32Array, { want, scale }: Expected, bound = BOUND): void {
  let worst = 0;
  let at = 0;
  for (let i = 0; i < got.length; i++) {
    const error = Math.abs(got[i] - want[i]) / scale;
    if (error <= worst) continue; // a NaN is never skipped
    worst = error;
    at = i;
    if (Number.isNaN(error)) break;
  }
  expect(worst, `element ${at}: got ${got[at]}, want ${want[at]}`).toBeLessThanOrEqual(bound);
}

/**
 * The integration tests of a decode pipeline: a token, a prompt, causality, agreement, lengths, finiteness, time.
 * @param byToken true if a workgroup sees one token: from 8 tokens on, lengths are the work of shorter ones again
 */
function seedTests(target: Target, byToken: boolean): void {
  const common = (position: number, nTokens: number) => passOf({ shape: COMMON, position, nTokens });

  test('a single token attends to itself alone: the output is its value', async () => {
    const pass = common(0, 1);
    const out = await attentionOnGpu(target, pass);
    const { nHeads, nKvHeads, headDim, contextLength } = COMMON;
    for (let i = 0; i < out.length; i++) {
      const kvHead = Math.floor(i / headDim / (nHeads / nKvHeads));
      expect(out[i]).toBeCloseTo(pass.v[kvHead * contextLength * headDim + (i % headDim)], 5);
    }
  });

  test('16 tokens in one pass equal 16 passes of one token', async () => {
    const pass = common(0, 16);
    const together = await attentionOnGpu(target, pass);
    const width = COMMON.nHeads * COMMON.headDim;
    for (let t = 0; t < 16; t++) {
      const q = pass.q.subarray(t * width, (t + 1) * width);
      const alone = await attentionOnGpu(target, { ...pass, position: t, nTokens: 1, q });
      alone.forEach((x, i) => {
        expect(x).toBeCloseTo(together[t * width + i], 5);
      });
    }
  });

  test('a command list made once serves every position', async () => {
    const passes = [40, 0, 7, 61].map((position) => common(position, 3));
    const outs = await replayOnGpu(target, passes);
    outs.forEach((out, i) => {
      expectClose(out, expected(passes[i]));
    });
  });

  test('changing a future key and value changes nothing before it', async () => {
    const pass = common(10, 20);
    const before = await attentionOnGpu(target, pass);
    const [k, v] = [pass.k.slice(), pass.v.slice()];
    const changed = 23; // of the positions 10 to 29
    for (let h = 0; h < COMMON.nKvHeads; h++) {
      const row = (h * COMMON.contextLength + changed) * COMMON.headDim;
      k.fill(9, row, row + COMMON.headDim);
      v.fill(-1000, row, row + COMMON.headDim);
    }
    const after = await attentionOnGpu(target, { ...pass, k, v });
    const split = (changed - 10) * COMMON.nHeads * COMMON.headDim;
    expect(after.subarray(0, split)).toEqual(before.subarray(0, split));
    expect(after.subarray(split)).not.toEqual(before.subarray(split));
  });

  // Those around the tiles are in PROGRESS, for both paths.
  const isPlain = target.without.length > 0;
  test(`${isPlain ? 'even' : 'odd'} lengths to 32 match the reference`, async () => {
    for (let nTokens = isPlain ? 2 : 1; nTokens <= 32; nTokens += 2) {
      if (byToken && nTokens > 8 && nTokens < 31) continue;
      await checkCase(target, { shape: COMMON, position: 0, nTokens });
    }
  });

  test('a NaN or an infinity in a query stays in its own head', async () => {
    const width = COMMON.nHeads * COMMON.headDim;
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const pass = common(3, 4);
      const clean = await attentionOnGpu(target, pass);
      const head = 2 * width + COMMON.headDim; // token 2, head 1
      const q = pass.q.slice();
      q[head + 5] = bad;
      const out = await attentionOnGpu(target, { ...pass, q });
      const here = (i: number) => i >= head && i < head + COMMON.headDim;
      expect(out.filter((_, i) => !here(i))).toEqual(clean.filter((_, i) => !here(i)));
      expect(out.filter((_, i) => here(i)).every(Number.isNaN)).toBe(true);
    }
  });

  test('time of a decode pass over 1000 keys', async () => {
    const pass = passOf({ shape: COMMON, position: 999, nTokens: 1 });
    await attentionOnGpu(target, pass);
    const start = performance.now();
    expectClose(await attentionOnGpu(target, pass), expected(pass));
    console.log(
      `${target.name}, ${pathName(target.without)}: ${(performance.now() - start).toFixed(1)} ms, transfers included`,
    );
  });
}

/** The least that WebGPU grants. */
export const LEAST_LIMITS = {
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxStorageBufferBindingSize: 2 ** 27,
};

function memoryTests(target: Target): void {
  const { name, without } = target;

  test('its defaults fit the least that WebGPU grants, for every case', () => {
    for (const { shape, position, nTokens } of CASES) {
      const request = { nTokens, kvLen: position + nTokens, shape, limits: LEAST_LIMITS, forced: name };
      expect(selectAttention(request).name).toBe(name);
    }
  });

  test('it allocates the scratch memory that it states, and frees it', async () => {
    const gpu = await hardwareGpu(without);
    const before = gpu.allocatedBytes;
    const kernel = await createAttention(gpu, name, COMMON);
    expect(gpu.allocatedBytes - before).toBe(kernel.scratchBytes);
    kernel.destroy();
    expect(gpu.allocatedBytes).toBe(before);
  });

  test('layers with equal windows share a uniform, which goes with the kernel', async () => {
    const gpu = await hardwareGpu(without);
    const shape = scored(kvTypeOf(without));
    const before = gpu.allocatedBytes;
    const kernel = await createAttention(gpu, name, shape);
    const { q, k, v, out } = modelBuffers(gpu, shape);
    const unbound = gpu.allocatedBytes;
    for (const window of [7, null, 8, 7, null]) kernel.bind(q, k, v, out, window);
    expect(gpu.allocatedBytes - unbound).toBe(name === 'cpu' ? 0 : 3 * 16);
    for (const buffer of [q, k, v, out]) gpu.destroyBuffer(buffer);
    kernel.destroy();
    expect(gpu.allocatedBytes).toBe(before);
  });

  test('a window that its shaders would not look at is refused, and one of no keys', async () => {
    const gpu = await hardwareGpu(without);
    const buffer = gpu.upload('any', new Float32Array(4));
    const bind = async (shape: AttentionShape, window: number) =>
      (await createAttention(gpu, name, shape)).bind(buffer, buffer, buffer, buffer, window);
    await expect(bind(COMMON, 7)).rejects.toThrow('it was compiled without windows, and a layer has one of 7 keys');
    for (const window of [0, -1, 1.5, Number.NaN]) {
      const refused = `a window of ${window} keys is no positive whole number`;
      await expect(bind(scored(kvTypeOf(without)), window)).rejects.toThrow(refused);
    }
    gpu.destroyBuffer(buffer);
  });

  const parameters = LARGE[name];
  if (!parameters || without.length > 0) return;
  for (const c of LARGE_CASES) {
    test(`${c.title}, ${parameterTitle(parameters)}`, async (context) => {
      try {
        await checkCase({ ...target, parameters }, c);
      } catch (error) {
        const isRefused = error instanceof AttentionUnavailable && /workgroup memory, this GPU/.test(error.message);
        context.skip(isRefused, isRefused ? error.message : '');
        throw error;
      }
    });
  }
}

const parameterTitle = (parameters: Record<string, number>) =>
  Object.entries(parameters)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');

/** Registers a case for test files that add targets of their own: a sibling with parameters other than its defaults. */
export function testParameters(
  name: AttentionName,
  without: readonly CapabilityName[],
  parameters: Record<string, number>,
  cases: readonly AttentionCase[],
): void {
  describe(`${name} with ${parameterTitle(parameters)}, ${pathName(without)}`, () => {
    for (const c of cases) test(c.title, () => checkCase({ name, without, parameters }, c));
  });
}
