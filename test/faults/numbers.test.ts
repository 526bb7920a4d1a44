// Numbers that are not numbers: a NaN or an infinity in any tensor, on both backends, ends an answer with an error that
// names the layer; a load with `debug` names the tensor. A GPU that stops computing is noticed, too.

import { describe, expect, test } from 'vitest';
import type { Backend } from '../../src/engine/backend/backend';
import { CpuBackend, loadCpuWeights } from '../../src/engine/backend/cpu_backend';
import { WebGpuBackend } from '../../src/engine/backend/webgpu_backend';
import type { GenerateOptions } from '../../src/engine/protocol';
import type { Gpu } from '../../src/gpu/device';
import { readConfig } from '../../src/model/config/read';
import { Llama, type LlamaOptions } from '../../src/model/llama';
import { checkedFiles } from '../../src/model/weights/checked_files';
import { resolveTensors } from '../../src/model/weights/tensors';
import { allocateWeights } from '../../src/model/weights/weights';
import { openModel } from '../../src/storage/model_file';
import type { ModelFiles } from '../../src/storage/model_files';
import { ask, numberSession } from '../engine/doubles/loop_session';
import { hardwareGpu, testGpu } from '../gpu/test_device';
import { modelFile, type Variant, WIDE } from '../model/fixtures/tiny_gguf';
import { damaged } from './damaged';

const CONTEXT = 48;
const TIMEOUT_MS = 180_000; // most of it compiling
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

const weightsOf = async (gpu: Gpu, files: ModelFiles) => {
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
  await read(files);
  return { config, weights };
};

/** The buffers below an object, in the order of its fields. */
function buffersOf(found: unknown, buffers = new Set<GPUBuffer>()): Set<GPUBuffer> {
  if (found instanceof GPUBuffer) buffers.add(found);
  else if (typeof found === 'object' && found !== null)
    for (const each of Object.values(found)) buffersOf(each, buffers);
  return buffers;
}

/** A loaded model, and what replaces the contents of its weights. */
async function gpuModel(files: ModelFiles, step: 'plain' | 'fused', contextLength = CONTEXT, gpuOf = testGpu) {
  const gpu = await gpuOf();
  const { config, weights } = await weightsOf(gpu, files);
  const options: LlamaOptions = {
    contextLength,
    kvType: 'f16',
    attention: step === 'fused' ? 'auto' : 'fused_decode',
    activations: 'q8',
    step,
    stepLaunch: { groups: 1, threads: 64 },
  };
  const llama = await Llama.create(gpu, config, weights, options);
  llama.start(weights);
  if (step === 'fused') {
    const until = Number.POSITIVE_INFINITY;
    llama.decideStep({ name: 'fused', reason: 'a test', gain: null, spins: 1 << 18, lanesFrom: until, until });
  }
  const into = [...buffersOf(weights)];
  const replace = async (other: ModelFiles) => {
    const from = [...buffersOf((await weightsOf(gpu, other)).weights)];
    expect(from.map(({ size }) => size)).toEqual(into.map(({ size }) => size));
    const encoder = gpu.device.createCommandEncoder();
    for (const [i, buffer] of from.entries()) encoder.copyBufferToBuffer(buffer, 0, into[i], 0, buffer.size);
    gpu.submit(encoder.finish());
    for (const buffer of from) gpu.destroyBuffer(buffer);
  };
  return { backend: new WebGpuBackend(gpu, llama), replace };
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
        for (const value of format === 'f32' ? BAD : [Number.NaN]) {
          const bad = damaged(files, `${name}.weight`, value, elementOf(name));
          const error = await errorOf(await cpuBackend(bad));
          expect(error, `${name} ${value}`).toMatchObject({ code: 'not-finite', canRetry: false });
          if (Number.isNaN(value) && !where.includes('gate')) expect(error.where, name).toBe(where);
        }
      }
    });
  }
});

describe('on the GPU, with activations in bytes and keys and values in f16', { timeout: TIMEOUT_MS }, () => {
  test.each(['plain', 'fused'] as const)('a NaN or an infinity in any tensor, %s steps', async (step) => {
    const files = await open('q8');
    const { backend, replace } = await gpuModel(files, step);
    expect(backend.step.name).toBe(step);
    const sound = await errorOf(backend);
    expect(sound).toMatch(/^the ids \d/);
    for (const [name, where] of Object.entries(TENSORS)) {
      const isStored = /embd|attn_[kv]$/.test(name); // in keys or values, where a clamp meets the infinity
      for (const value of BAD.slice(0, isStored ? 2 : 1)) {
        await replace(damaged(files, `${name}.weight`, value, elementOf(name)));
        const error = await errorOf(backend);
        expect(error, `${name} ${value}`).toMatchObject({ code: 'not-finite' });
        if (Number.isNaN(value)) expect(error.where, name).toContain(`${where} (`);
      }
    }
    await replace(files);
    expect(await errorOf(backend)).toBe(sound); // no error was left over from the one before
  });

  test('a NaN or an infinity where gate and up leave bytes', async () => {
    const files = await open('q8');
    const length = 300;
    const ids = Uint32Array.from({ length }, (_, i) => (i * i) % WIDE.vocab);
    const { backend, replace } = await gpuModel(files, 'plain', length, hardwareGpu);
    expect(await backend.findNotFinite(ids)).toBeNull();
    for (const name of ['ffn_gate', 'ffn_up', 'ffn_down']) {
      await replace(damaged(files, `blk.0.${name}.weight`, Number.NaN, 5));
      const kernel = name === 'ffn_down' ? 'after the MLP' : 'gate and up (kernels/gate_up_tile_q8';
      expect(await backend.findNotFinite(ids), name).toContain(`layer 0, ${kernel}`);
    }
  });
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
