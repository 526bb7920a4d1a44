// Numbers that are not numbers: a NaN or an infinity in any tensor, on both backends, ends an answer with an error that
// names the layer; a load with `debug` names the tensor. A GPU that stops computing is noticed, too.

import { describe, expect, test } from 'vitest';
import type { GenerateOptions } from '../../src/engine/protocol';
import type { Backend } from '../../src/engine/worker/backend';
import { CpuBackend, loadCpuWeights } from '../../src/engine/worker/cpu_backend';
import { WebGpuBackend } from '../../src/engine/worker/webgpu_backend';
import { checkedFiles } from '../../src/model/checked_files';
import { readConfig } from '../../src/model/config/read';
import { Llama, type LlamaOptions } from '../../src/model/llama';
import { resolveTensors } from '../../src/model/tensors';
import { allocateWeights } from '../../src/model/weights';
import { type ModelFiles, openModel } from '../../src/storage/model_file';
import { ask, numberSession } from '../engine/loop_session';
import { testGpu } from '../gpu/test_device';
import { modelFile, type Variant, WIDE } from '../model/tiny_gguf';
import { damaged } from './damaged';

const CONTEXT = 48;
const PROMPT = '10 20 30';
/** A token in the middle of the prompt: its embedding reaches the logits through keys and values alone. */
const ROW = 20 * WIDE.hidden;
const BAD = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

/** Each tensor, and the operation that its number spoils first. */
const TENSORS: Readonly<Record<string, string>> = {
  token_embd: 'the embedding',
  'blk.0.attn_norm': 'layer 0, queries',
  'blk.0.attn_q': 'layer 0, queries',
  'blk.0.attn_k': 'layer 0, attention',
  'blk.0.attn_v': 'layer 0, attention',
  'blk.0.attn_output': 'layer 0, after attention',
  'blk.0.ffn_norm': 'layer 0, gate and up',
  'blk.0.ffn_gate': 'layer 0, gate and up',
  'blk.0.ffn_up': 'layer 0, gate and up',
  'blk.0.ffn_down': 'layer 0, after the MLP',
  output_norm: 'the head',
  output: 'the head',
};

const elementOf = (name: string) => (name === 'token_embd' ? ROW : 5);

function open(format: Variant['format']): Promise<ModelFiles> {
  return openModel([modelFile({ format }, WIDE)]);
}

async function cpuBackend(files: ModelFiles): Promise<Backend> {
  const config = readConfig(files);
  return new CpuBackend(config, await loadCpuWeights(resolveTensors(files, config)), CONTEXT);
}

async function gpuBackend(files: ModelFiles, options: Partial<LlamaOptions> = {}): Promise<Backend> {
  const gpu = await testGpu();
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
  const llama = await Llama.create(gpu, config, weights, {
    contextLength: CONTEXT,
    kvType: 'f16',
    attention: 'fused_decode',
    activations: 'q8',
    ...options,
  });
  await read(files);
  llama.start(weights);
  if (options.step === 'fused') {
    const until = Number.POSITIVE_INFINITY;
    llama.decideStep({ name: 'fused', reason: 'a test', gain: null, spins: 1 << 18, until });
  }
  return new WebGpuBackend(gpu, llama);
}

const GREEDY = { temperature: 0, ignoreEos: true, maxTokens: 6 };

/** The error of an answer, within its first tokens. */
async function errorOf(backend: Backend, options: GenerateOptions = GREEDY) {
  return ask(numberSession(backend), { prompt: PROMPT }, options).then(
    ({ ids }) => `the ids ${ids}`,
    (error) => error,
  );
}

describe('on the CPU', () => {
  for (const format of ['f32', 'f16', 'BF16', 'q8', 'q4', 'q2_k', 'Q4_K', 'q6_k'] as const) {
    test(`a number of any tensor that is none, ${format}`, async () => {
      const files = await open(format);
      for (const [name, where] of Object.entries(TENSORS)) {
        for (const value of BAD) {
          const bad = damaged(files, `${name}.weight`, value, elementOf(name));
          const error = await errorOf(await cpuBackend(bad));
          expect(error, `${name} ${value}`).toMatchObject({ code: 'not-finite', canRetry: false });
          if (Number.isNaN(value) && !where.includes('gate')) expect(error.where, name).toBe(where);
        }
      }
    });
  }
});

describe('on the GPU, with activations in bytes and keys and values in f16', () => {
  for (const step of ['plain', 'fused'] as const) {
    test(`a NaN or an infinity in any tensor, ${step} steps`, async () => {
      const files = await open('q8');
      for (const [name, where] of Object.entries(TENSORS)) {
        const isFew = /embd|attn_[kv]$/.test(name);
        if (step === 'fused' && !isFew && !name.includes('ffn')) continue; // the head and others are as in plain steps
        for (const value of BAD.slice(0, step === 'plain' && isFew ? 2 : 1)) {
          const bad = damaged(files, `${name}.weight`, value, elementOf(name));
          const attention = step === 'fused' ? 'auto' : 'fused_decode';
          const backend = await gpuBackend(bad, { step, attention, stepLaunch: { groups: 1, threads: 64 } });
          expect(backend.step.name).toBe(step);
          const error = await errorOf(backend);
          expect(error, `${name} ${value}`).toMatchObject({ code: 'not-finite' });
          if (Number.isNaN(value)) expect(error.where, name).toContain(`${where} (`);
        }
      }
    });
  }
});

describe('a load with debug', () => {
  test.each(['f32', 'f16', 'BF16', 'q8', 'q4', 'Q3_K', 'Q5_K'] as const)('names the tensor, %s', async (format) => {
    const files = await open(format);
    const config = readConfig(files);
    for (const name of ['blk.0.attn_v', 'output']) {
      const bad = checkedFiles(damaged(files, `${name}.weight`, Number.NaN, 261));
      const error = await loadCpuWeights(resolveTensors(bad, config)).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'model-file', tensor: `${name}.weight` });
      expect(error.message).toMatch(/element \d+ of tensor .* is NaN/);
    }
    await loadCpuWeights(resolveTensors(checkedFiles(files), config));
  });

  test('counts elements over reads and chunks', async () => {
    const files = await open('f32');
    const last = WIDE.vocab * WIDE.hidden - 1;
    const { tensors } = checkedFiles(damaged(files, 'output.weight', Number.NEGATIVE_INFINITY, last));
    const tensor = tensors.get('output.weight');
    const rowBytes = 4 * WIDE.hidden;
    await tensor?.read(0, (WIDE.vocab - 1) * rowBytes);
    await expect(tensor?.read((WIDE.vocab - 1) * rowBytes, rowBytes)).rejects.toThrow(
      `element ${last} of tensor output.weight (F32) is -Infinity`,
    );
  });
});
