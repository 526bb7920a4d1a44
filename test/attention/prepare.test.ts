// What a load does about siblings: chosen by cache length, checked on the GPU, done without where they are broken.

import { describe, expect, test } from 'vitest';
import type { AttentionName, AttentionShape } from '../../src/attention/attention';
import { type PrepareOptions, plannedScratch, prepareAttention } from '../../src/attention/prepare';
import type { AttentionProfile } from '../../src/attention/profile';
import { AttentionUnavailable, DeviceLostError } from '../../src/errors';
import type { Gpu } from '../../src/gpu/device';
import { ALL_REFUSED, breakSiblings, type Defect } from '../engine/doubles/broken_gpu';
import { hardwareGpu } from '../gpu/test_device';
import { plainScores } from './cases';

/** Which sibling runs is the same with subgroups, whose kernels take twice as long to compile here. */
const plainGpu = () => hardwareGpu(['subgroups']);

const SHORT: AttentionShape = {
  nHeads: 2,
  nKvHeads: 1,
  headDim: 32,
  contextLength: 60,
  maxTokens: 16,
  kvType: 'f32',
  ...plainScores(32),
};
const LONG: AttentionShape = { ...SHORT, contextLength: 600, kvType: 'f16' };

async function prepare(gpu: Gpu, shape: AttentionShape, options: Omit<PrepareOptions, 'buffers'> = {}) {
  const before = gpu.allocatedBytes;
  const size = shape.maxTokens * shape.nHeads * shape.headDim;
  const make = (label: string, floats: number) => gpu.upload(label, new Float32Array(floats));
  const cache = (label: string) => make(label, shape.nKvHeads * shape.contextLength * shape.headDim);
  const buffers = { q: make('q', size), out: make('out', size), k: cache('k'), v: cache('v') };
  try {
    const prepared = await prepareAttention(gpu, shape, { ...options, buffers });
    return { prepared, scratch: () => gpu.allocatedBytes - before };
  } finally {
    for (const buffer of Object.values(buffers)) gpu.destroyBuffer(buffer);
  }
}

const namesAt = async (gpu: Gpu, shape: AttentionShape, options?: Omit<PrepareOptions, 'buffers'>) => {
  const { prepared } = await prepare(gpu, shape, options);
  return { prefill: prepared.prefill.kernel.name, decode: prepared.decode.map(({ kernel }) => kernel.name) };
};

const PROFILE: AttentionProfile = {
  prefill: { name: 'flash_prefill', parameters: { BLOCK_M: 16, BLOCK_N: 16, DV_TILE: 32 }, ms: 1 },
  decode: [
    { name: 'fused_decode', parameters: { WORKGROUP: 64 }, ms: 1, kvLen: 128 },
    { name: 'split_kv_decode', parameters: { SPLITS: 2, WORKGROUP: 64 }, ms: 1, kvLen: 600 },
  ],
  tunedAt: '2026-11-21T10:00:00.000Z',
};

describe('where all is well', () => {
  test('a short context needs one kernel for decode and one for prefill', async () => {
    const { prepared } = await prepare(await plainGpu(), SHORT);
    expect(prepared.kernels.size).toBe(2);
    expect(prepared.decode).toHaveLength(7); // 1, 2, 4, 8, 16, 32, 60
    expect(prepared.setAside).toEqual([]);
    expect(prepared.at(16, 60).kernel.name).toBe('flash_prefill');
    for (const kvLen of [1, 2, 3, 33, 60]) expect(prepared.at(1, kvLen).kernel.name).toBe('fused_decode');
    expect(prepared.reason).toBe('the default, not tuned on this GPU');
  });

  test.each<[string, Partial<AttentionShape>, Omit<PrepareOptions, 'buffers'>]>([
    ['prompts in f32', {}, {}],
    ['prompts in signed bytes', {}, { inBytes: true }],
    ['splits that merge in the output projection', { partsMergeInO: true }, { inBytes: true }],
    ['a profile', {}, { profile: PROFILE, inBytes: true }],
    ['a sibling by name', {}, { forced: 'chunked', inBytes: true }],
  ])('the planned scratch memory is what is allocated, with %s', async (_, more, options) => {
    const gpu = await plainGpu();
    const shape = { ...SHORT, contextLength: 1100, ...more };
    const { prepared } = await prepare(gpu, shape, options);
    const scratch = [...prepared.kernels].reduce((sum, { scratchBytes }) => sum + scratchBytes, 0);
    expect(plannedScratch(gpu, shape, options)).toBe(scratch);
    prepared.destroy();
  });

  test('siblings of steps alone take scratch memory for a token, and one of prompts for all', async () => {
    const gpu = await plainGpu();
    const bytesFor = async (maxTokens: number) => {
      const shape = { ...SHORT, contextLength: 1100, maxTokens };
      const { prepared } = await prepare(gpu, shape, { forced: 'split_kv_decode' });
      const [step, prompt] = [1, 2].map((nTokens) => prepared.at(nTokens, 1100).kernel);
      prepared.destroy();
      return { step: step.scratchBytes, prompt: prompt.scratchBytes };
    };
    const [few, many] = [await bytesFor(16), await bytesFor(64)];
    expect(many.step).toBe(few.step);
    expect(many.prompt).toBeGreaterThan(3 * few.prompt);
  });

  test('a prompt in signed bytes changes its sibling at 320 keys, and does without where that one is wrong', async () => {
    const shape = { ...SHORT, contextLength: 1100 };
    const { prepared } = await prepare(await plainGpu(), shape, { inBytes: true });
    const names = [319, 320, 1100].map((kvLen) => prepared.at(16, kvLen).kernel.name);
    expect(names).toEqual(['flash_prefill', 'flash_prefill_q8', 'flash_prefill_q8']);
    expect(prepared.reason).toContain('flash_prefill_q8 for prompts from 320 keys on');

    const gpu = breakSiblings(await plainGpu(), { flash_prefill_q8: 'wrong' });
    const without = await prepare(gpu, shape, { inBytes: true });
    expect(without.prepared.at(16, 1100).kernel.name).toBe('flash_prefill');
    expect(without.prepared.setAside).toEqual([
      {
        name: 'flash_prefill_q8',
        message: expect.stringMatching(
          /^The attention kernel flash_prefill_q8 is not used: .* flash_prefill runs instead\.$/,
        ),
      },
    ]);
  });

  test('decode changes its sibling past 256 keys, and its number of splits with the cache', async () => {
    const { prepared, scratch } = await prepare(await plainGpu(), LONG);
    const at = (kvLen: number) => prepared.at(1, kvLen).kernel;
    expect(at(256).name).toBe('fused_decode');
    expect(at(257).name).toBe('split_kv_decode');
    expect(at(257)).toBe(at(512));
    expect(at(513)).toBe(at(600));
    expect(prepared.reason).toMatch(
      /^fused_decode up to 256 keys, then split_kv_decode \((\d to )?\d splits\); the default, not tuned on this GPU$/,
    );
    expect(scratch()).toBeGreaterThan(0);
    prepared.destroy();
    expect(scratch()).toBe(0);
  });

  test('the context that was asked for changes nothing at a length', async () => {
    const gpu = await plainGpu();
    const ends = [600, 768, 1024].map((contextLength) => ({ ...LONG, contextLength }));
    const [first, ...others] = await Promise.all(ends.map((shape) => prepare(gpu, shape)));
    for (const kvLen of [1, 256, 257, 513, 600]) {
      const { name, parameters } = first.prepared.at(1, kvLen).kernel;
      for (const { prepared } of others) expect(prepared.at(1, kvLen).kernel).toMatchObject({ name, parameters });
    }
  });

  test('a profile decides, and the reason tells when it was measured', async () => {
    const { prepared } = await prepare(await plainGpu(), LONG, { profile: PROFILE });
    expect(prepared.prefill.kernel.parameters).toMatchObject(PROFILE.prefill.parameters);
    expect(prepared.at(1, 128).kernel.parameters).toMatchObject({ WORKGROUP: 64 });
    expect(prepared.at(1, 129).kernel).toMatchObject({ name: 'split_kv_decode', parameters: { SPLITS: 2 } });
    expect(prepared.reason).toBe(
      'fused_decode up to 128 keys, then split_kv_decode (2 splits); tuned on this GPU 2026-11-21',
    );
  });

  test('a forced sibling runs everything', async () => {
    const { prepared } = await prepare(await plainGpu(), SHORT, { forced: 'fused_decode', profile: PROFILE });
    expect(prepared.kernels.size).toBe(1);
    expect(prepared.reason).toBe('asked for by name');
    const split = await prepare(await plainGpu(), SHORT, { forced: 'split_kv_decode' });
    expect(split.prepared.reason).toBe('split_kv_decode (1 split); asked for by name');
  });
});

describe('a broken sibling is set aside, and the next takes over', () => {
  const CHAIN: [Partial<Record<AttentionName, Defect>>, AttentionName, AttentionName][] = [
    [{ flash_prefill: 'refused' }, 'chunked', 'fused_decode'],
    [{ flash_prefill: 'wrong', chunked: 'wrong' }, 'eager', 'fused_decode'],
    [{ flash_prefill: 'refused', chunked: 'refused', eager: 'wrong' }, 'fused_decode', 'fused_decode'],
    [{ fused_decode: 'refused' }, 'flash_prefill', 'split_kv_decode'],
    [{ fused_decode: 'wrong', split_kv_decode: 'refused' }, 'flash_prefill', 'flash_prefill'],
    [
      { flash_prefill: 'wrong', chunked: 'refused', eager: 'refused', fused_decode: 'wrong', split_kv_decode: 'wrong' },
      'cpu',
      'cpu',
    ],
  ];
  for (const [defects, prefill, decode] of CHAIN) {
    const title = Object.entries(defects).map(([name, defect]) => `${name} ${defect}`);
    test(`${title.join(', ')}: prefill by ${prefill}, decode by ${decode}`, async () => {
      const gpu = breakSiblings(await plainGpu(), defects);
      const { prepared, scratch } = await prepare(gpu, SHORT);
      expect(prepared.prefill.kernel.name).toBe(prefill);
      expect(new Set(prepared.decode.map(({ kernel }) => kernel.name))).toEqual(new Set([decode]));
      const wrong = { refused: 'the shader was refused', wrong: 'its outputs' };
      for (const { name, message } of prepared.setAside) {
        expect(message).toContain(`The attention kernel ${name} is not used: `);
        expect(message).toContain(wrong[defects[name] as Defect]);
        expect(message).toMatch(/\. (?!undefined)([a-z_]+ runs|[a-z_]+ and [a-z_]+ run) instead\.$/);
        expect(message).not.toMatch(/\n|\.\./);
        expect(prepared.reason).toContain(`instead of ${name}: `);
      }
      expect(prepared.setAside.map(({ name }) => name).sort()).toEqual(Object.keys(defects).sort());
      prepared.destroy();
      expect(scratch()).toBe(0); // nothing is left of those that failed
      expect(gpu.failure).toBeNull();
    });
  }

  test('a long cache goes on with what short ones use', async () => {
    const gpu = breakSiblings(await plainGpu(), { split_kv_decode: 'wrong' });
    expect(new Set((await namesAt(gpu, LONG)).decode)).toEqual(new Set(['fused_decode']));
  });

  test('a profile that names it is not obeyed', async () => {
    const gpu = breakSiblings(await plainGpu(), { fused_decode: 'wrong' });
    const { prefill, decode } = await namesAt(gpu, LONG, { profile: PROFILE });
    expect(prefill).toBe('flash_prefill');
    expect(new Set(decode)).toEqual(new Set(['split_kv_decode']));
  });

  test('a profile that went bad is dropped, which says nothing against its siblings', async () => {
    const gpu = breakSiblings(await plainGpu(), { eager: 'wrong' });
    const profile: AttentionProfile = { ...PROFILE, prefill: { name: 'eager', parameters: {}, ms: 1 } };
    const { prepared } = await prepare(gpu, SHORT, { profile });
    expect(prepared.prefill.kernel.name).toBe('flash_prefill');
    expect(prepared.setAside).toEqual([]);
    expect(prepared.reason).toBe('the default, not tuned on this GPU');
  });

  test("a lost device is no sibling's fault", async () => {
    const gpu = breakSiblings(await plainGpu(), { flash_prefill: 'refused' });
    gpu.failure = new DeviceLostError('a test');
    await expect(prepare(gpu, SHORT)).rejects.toThrow(DeviceLostError);
  });

  test('when all are broken, the error names each', async () => {
    const gpu = breakSiblings(await plainGpu(), ALL_REFUSED);
    const before = gpu.allocatedBytes;
    const failed = prepare(gpu, SHORT);
    await expect(failed).rejects.toThrow(AttentionUnavailable);
    await expect(failed).rejects.toThrow(/flash_prefill: .*chunked: .*cpu: .*needs \d+ bytes/);
    expect(gpu.allocatedBytes).toBe(before);
  });
});

test.each([
  ['flash_prefill', 'wrong', 'its outputs differ from the textbook'],
  ['fused_decode', 'refused', 'the shader was refused'],
] as const)('%s, forced and %s, is a typed error, never another sibling', async (forced, defect, reason) => {
  const gpu = breakSiblings(await plainGpu(), { [forced]: defect });
  const failed = prepare(gpu, SHORT, { forced });
  await expect(failed).rejects.toThrow(AttentionUnavailable);
  await expect(failed).rejects.toThrow(new RegExp(`"${forced}" cannot run here: .*${reason}`));
});
