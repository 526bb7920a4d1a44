// The fused step of several conversations, one dispatch a phase, against the layers of each in plain loops
// (step_oracle.ts): x after the last layer, while conversations come and go.

import { expect, test } from 'vitest';
import type { CapabilityName } from '../../../src/gpu/limits';
import type { StepLaunch } from '../../../src/kernels/step/step_plan';
import { openModel } from '../../../src/storage/model_file';
import { fixtureFolder } from '../../cpu/fixtures';
import { testGpu } from '../../gpu/test_device';
import { droppedFolder } from '../fixtures/files';
import { modelFile, SHAPE, type Variant } from '../fixtures/tiny_gguf';
import { FusedRun, type FusedRunOptions } from './fused_run';
import { FUSED, StepOracle } from './step_oracle';

/**
 * Distance of x from the textbook that rounds alike. Only the order of sums differs, until it turns a value to the next
 * byte, which moves x by up to FLIPPED. Keys and values keep the difference.
 */
const SAME = 1e-3;
const FLIPPED = 0.06;
const CONTEXT = 64;
const TIMEOUT_MS = 180_000; // most of it compiling

interface Case extends Omit<FusedRunOptions, 'contextLength'> {
  /** A fixture of this name, or a small file. */
  model: string | { variant: Variant; shape: Partial<typeof SHAPE> };
  launch: StepLaunch;
  without?: CapabilityName[];
  /** Steps with each set of rows. Default: TIMES. */
  times?: number;
}

const small = { vocab: 67, layers: 2 };

const CASES: Record<string, Case> = {
  'Qwen 3: q4, norms of q and k, more workgroups than heads, without immediates': {
    model: 'qwen3',
    without: ['immediates'],
    launch: { groups: 35, threads: 32 },
    quantize: 'q4',
  },
  'Qwen 2: q8, biases of q, k and v, f16 keys, two splits': {
    model: 'qwen2',
    launch: { groups: 32, threads: 64 },
    quantize: 'q8',
    kvType: 'f16',
  },
  'q8, more columns than workgroup memory holds, in chunks of which the last is short': {
    model: {
      variant: { format: 'q8' },
      shape: { ...small, hidden: 320, intermediate: 1312, heads: 2, kvHeads: 1, headDim: 32 },
    },
    launch: { groups: 9, threads: 128 },
  },
  'q5_1 with v in q8 and down in q4_1, in two runs and in chunks': {
    model: {
      variant: { format: 'q5_1', mixed: { attn_v: 'q8', ffn_down: 'q4_1' } },
      shape: { ...small, layers: 1, hidden: 64, intermediate: 1312, heads: 2, kvHeads: 1, headDim: 32 },
    },
    launch: { groups: 9, threads: 128 },
  },
  'gate and up in chunks of columns and in turns of rows, whose sums are added up in each chunk': {
    model: {
      variant: { format: 'q8' },
      shape: { ...small, layers: 1, hidden: 1056, intermediate: 1152, heads: 2, kvHeads: 1, headDim: 32 },
    },
    launch: { groups: 9, threads: 32 },
    times: 1,
  },
  'a group of four heads, whose values a thread reads once, in two tiles': {
    model: {
      variant: { format: 'q8' },
      shape: { ...small, layers: 1, hidden: 64, intermediate: 64, heads: 8, kvHeads: 2, headDim: 16 },
    },
    launch: { groups: 16, threads: 32 },
    times: 8,
  },
  'keys in signed bytes, whose scales follow the rows of all slots': {
    model: {
      variant: { format: 'q8' },
      shape: { ...small, hidden: 64, intermediate: 64, heads: 4, kvHeads: 2, headDim: 16 },
    },
    launch: { groups: 16, threads: 32 },
    kvType: 'q8',
    times: 8,
  },
};

/** By step: the slots of its rows. Conversations join, leave, and come back to another row; at first fewer than half. */
const STEPS = [[5], [5, 0], [5, 0, 2], [2, 5, 0, 7, 1], [2, 7, 1, 3, 4, 6, 0, 5], [6, 4, 3], [6, 4, 0, 5]];
/** Steps with each set of rows. */
const TIMES = 2;

for (const [name, { model, launch, without, times = TIMES, ...options }] of Object.entries(CASES)) {
  test(name, { timeout: TIMEOUT_MS }, async () => {
    const gpu = await testGpu(without);
    const dropped =
      typeof model === 'string'
        ? droppedFolder(fixtureFolder(model))
        : modelFile(model.variant, { ...SHAPE, ...model.shape });
    const sizes = { ...options, contextLength: CONTEXT, batched: true };
    const run = await FusedRun.create(gpu, await openModel(dropped), launch, sizes, { apart: true });
    const { config, weights } = run;
    const chats = Array.from({ length: 8 }, () => {
      const oracle = new StepOracle(config, weights, CONTEXT, options.kvType ?? 'f32', FUSED);
      return { oracle, position: 0 };
    });
    const errors = chats.map(() => Array.from({ length: config.nLayers }, (): number[] => []));
    for (const [number, slots] of STEPS.entries()) {
      run.fused.renew(1 << 20);
      for (let time = 0; time < times; time++) {
        const rows = slots.map((slot) => {
          const { oracle, position } = chats[slot];
          const id = (position * 29 + 7 * slot) % config.vocabSize;
          return { slot, position, id, embedding: oracle.embed(id) };
        });
        const after = await run.together(rows, 1000 + number * times + time);
        for (const [i, { slot, position, id }] of rows.entries()) {
          const expected = chats[slot].oracle.step(id, position, after[i]); // each layer continues from x of the GPU
          for (const [layer, x] of expected.entries()) errors[slot][layer].push(distance(after[i][layer], x));
          chats[slot].position++;
        }
      }
    }
    expect(Math.max(...errors.flat(2))).toBeLessThan(FLIPPED);
    for (const [slot, layers] of errors.entries()) {
      for (const [layer, all] of layers.entries()) {
        expect(Math.min(...all), `slot ${slot}, layer ${layer}`).toBeLessThan(SAME);
      }
    }
    expect(await run.fused.gaveUp()).toBe(false);
    expect(gpu.failure).toBeNull();
  });
}

/** |a - b| / |b|. */
function distance(a: Float32Array, b: Float32Array): number {
  const norm = (x: Float32Array) => Math.hypot(...x);
  return norm(a.map((value, i) => value - b[i])) / norm(b);
}
