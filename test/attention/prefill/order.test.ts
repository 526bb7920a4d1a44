// The order of a prompt's workgroups: the longest blocks of all KV heads first.

import { expect, test } from 'vitest';
import { createAttention } from '../../../src/attention/create';
import { CommandList } from '../../../src/gpu/kernel';
import { hardwareGpu } from '../../gpu/test_device';
import { scored } from '../baselines/scored_cases';

test.each(['flash_prefill', 'flash_prefill_q8'] as const)(
  '%s goes through the KV heads, then the blocks',
  async (name) => {
    const gpu = await hardwareGpu();
    const shape = { ...scored('f32'), nHeads: 6, nKvHeads: 2, headDim: 64 };
    const nTokens = Math.min(shape.maxTokens, 50);
    const kernel = await createAttention(gpu, name, shape);
    const [q, k, v, out] = ['q', 'k', 'v', 'out'].map((label) => gpu.upload(label, new Float32Array(1 << 16)));
    const list = new CommandList(gpu);
    kernel.bind(q, k, v, out, null).record(list, nTokens);
    expect(list.commands.at(-1)).toMatchObject({ x: 2, y: Math.ceil((nTokens * 3) / 64), z: 1 });
    kernel.destroy();
  },
);
