// A whole model on quantized activations: close to the exact one, with the same logits whether the output projection
// merges the splits of attention or reads them merged, and whether tokens come one at a time or in one pass. Each kind
// of pass may have an arithmetic of its own, on the same weights.

import { expect, test, vi } from 'vitest';
import type { AttentionName } from '../../src/attention/attention';
import { CpuLlama } from '../../src/cpu/llama';
import { loadCpuWeights } from '../../src/engine/backend/cpu_backend';
import type { Gpu } from '../../src/gpu/device';
import { readConfig } from '../../src/model/config/read';
import type { Arithmetic } from '../../src/model/layers/arithmetic';
import { Llama } from '../../src/model/llama';
import { resolveTensors } from '../../src/model/weights/tensors';
import { allocateWeights } from '../../src/model/weights/weights';
import { openModel } from '../../src/storage/model_file';
import { relativeError } from '../close';
import { readFixture } from '../cpu/fixtures';
import { hardwareGpu, testGpu } from '../gpu/test_device';
import { GREEDY } from '../sampling/params';
import { droppedFolder } from './fixtures/files';

const NAME = 'f16_group3_hd32_bias_sharded';
const ROOT = new URL('../fixtures/llama/', import.meta.url).pathname;
const STEPS = 12;

const TIMEOUT_MS = 180_000; // most of it compiling

async function open() {
  const files = await openModel(droppedFolder(ROOT + NAME));
  const config = readConfig(files);
  return { files, config, tensors: resolveTensors(files, config) };
}

async function load(
  attention: AttentionName | 'auto',
  activations: 'q8' | Arithmetic = 'q8',
  contextLength = 64,
  gpuOf: () => Promise<Gpu> = testGpu,
): Promise<Llama> {
  const gpu = await gpuOf();
  const { files, config, tensors } = await open();
  const { weights, read } = await allocateWeights(gpu, tensors, config, 'q8');
  const shape = { contextLength, kvType: 'f32', attention, activations } as const;
  const llama = await Llama.create(gpu, config, weights, shape);
  await read(files);
  llama.start(weights);
  llama.setSampling(GREEDY);
  return llama;
}

/** The logits of the same weights on f32 activations. */
async function exactLogits(): Promise<Float32Array[]> {
  const { config, tensors } = await open();
  const weights = await loadCpuWeights(tensors, undefined, 'q8');
  const cpu = new CpuLlama(config, weights, 64);
  return readFixture(NAME)
    .inputIds.slice(0, STEPS)
    .map((id, position) => Float32Array.from(cpu.forward(id, position)));
}

/** Logits after each of the first tokens of the fixture, one token a pass. */
async function decode(llama: Llama): Promise<Float32Array[]> {
  const ids = Uint32Array.from(readFixture(NAME).inputIds);
  const logits: Float32Array[] = [];
  for (let position = 0; position < STEPS; position++) {
    llama.writeTokens(ids, 0); // the sampler has overwritten the next one
    await llama.pass(1, 'sample', position).run({ position, nTokens: 1 });
    logits.push(await llama.readLogits());
  }
  return logits;
}

/** The largest error of any step, relative to its largest logit. */
const worst = (a: Float32Array[], b: Float32Array[]) => Math.max(...a.map((logits, i) => relativeError(logits, b[i])));

test('one token at a time and in one pass, parts of attention merged on the way or before', {
  timeout: TIMEOUT_MS,
}, async () => {
  const exact = await exactLogits();
  const fused = await load('fused_decode');
  expect(fused.activations).toBe('q8');
  const quantized = await decode(fused);
  const far = worst(quantized, exact);
  expect(far).toBeGreaterThan(1e-5); // otherwise nothing was quantized
  expect(far).toBeLessThan(0.05);

  const split = await load('split_kv_decode');
  // embed, five a layer, head and sample, and none that merges.
  expect(split.pass(1, 'sample', 0).commands).toHaveLength(2 * 5 + 3);
  expect(worst(await decode(split), quantized)).toBeLessThan(0.01); // a rounding error may flip a quantized value

  fused.writeTokens(Uint32Array.from(readFixture(NAME).inputIds), 0);
  await fused.pass(STEPS, 'sample', 0).run({ position: 0, nTokens: STEPS });
  expect(relativeError(await fused.readLogits(), quantized[STEPS - 1])).toBeLessThan(0.02);
});

test.each([
  { decode: 'f32', prefill: 'q8' },
  { decode: 'q8', prefill: 'f32' },
] as const)('%o', { timeout: TIMEOUT_MS }, async (arithmetic) => {
  const exact = await exactLogits();
  const llama = await load('fused_decode', arithmetic);
  expect(llama.arithmetic).toEqual(arithmetic);
  expect(llama.activations).toBe('q8');
  const stepwise = worst(await decode(llama), exact);
  expect(stepwise).toBeGreaterThan(arithmetic.decode === 'q8' ? 1e-4 : 0);
  expect(stepwise).toBeLessThan(arithmetic.decode === 'q8' ? 0.05 : 2e-5);
  // All but the last token as a prompt. Its logits are a product of one token.
  llama.writeTokens(Uint32Array.from(readFixture(NAME).inputIds), 0);
  await llama.pass(STEPS - 1, 'sample', 0).run({ position: 0, nTokens: STEPS - 1 });
  const prompt = relativeError(await llama.readLogits(), exact[STEPS - 2]);
  expect(prompt).toBeGreaterThan(1e-4); // the head runs as decode does
  expect(prompt).toBeLessThan(0.05);
});

/** Runs a prompt in passes of `chunk` tokens. Returns the kernels of attention of each pass. */
async function runPrompt(llama: Llama, ids: Uint32Array<ArrayBuffer>, chunk: number): Promise<string[]> {
  llama.writeTokens(ids, 0);
  const attention: string[] = [];
  for (let position = 0; position < ids.length; position += chunk) {
    const nTokens = Math.min(chunk, ids.length - position);
    const pass = llama.pass(nTokens, position + nTokens < ids.length ? 'none' : 'sample', position);
    const labels = pass.submitsAt({ position, nTokens }).flatMap(({ commands }) => commands.map(({ label }) => label));
    attention.push(labels.filter((label) => label.startsWith('attention/')).join(' '));
    await pass.run({ position, nTokens });
  }
  return attention;
}

test('the end of a long prompt attends in signed bytes, in passes of any length', { timeout: TIMEOUT_MS }, async () => {
  const { config, tensors } = await open();
  const [{ inputIds }, length] = [readFixture(NAME), 1100];
  const ids = Uint32Array.from({ length }, (_, i) => inputIds[(i * i) % inputIds.length]);
  const cpu = new CpuLlama(config, await loadCpuWeights(tensors, undefined, 'q8'), length);
  const exact = Float32Array.from(cpu.prefill(ids, 0));
  const llama = await load('auto', { decode: 'f32', prefill: 'q8' }, length);
  const inBytes = 'attention/quantize_kv attention/flash_prefill_q8';
  const exactly = 'attention/flash_prefill';
  // The last of the two layers attends for the prompt's last token alone.
  const atEnd = `${inBytes} attention/split_kv_decode.main attention/split_kv_decode.merge`;
  expect(await runPrompt(llama, ids, 300)).toEqual([exactly, inBytes, inBytes, atEnd]);
  expect(relativeError(await llama.readLogits(), exact)).toBeLessThan(0.05);

  expect(llama.passTokens).toBe(1024);
  expect(await runPrompt(llama, ids, llama.passTokens)).toEqual([inBytes, atEnd]);
  const logits = await llama.readLogits();
  expect(relativeError(logits, exact)).toBeLessThan(0.05);
  expect(await runPrompt(llama, ids, 512)).toEqual([inBytes, inBytes, atEnd]);
  expect(await llama.readLogits()).toEqual(logits);
});

test(
  'whole passes of a prompt, which are kept, end submits by the operations that are set',
  async () => {
    const llama = await load('auto', { decode: 'f32', prefill: 'q8' }, 1100);
    const submits = (operations: number) => {
      llama.submitOperations = operations;
      const step = { position: 0, nTokens: llama.passTokens };
      return llama.pass(step.nTokens, 'none', step.position).submitsAt(step).length;
    };
    const [few, many] = [submits(2e11), submits(1)];
    expect(few).toBe(1);
    expect(many).toBe(6); // five products each end a submit; nothing follows the last
    expect([submits(2e11), submits(1)]).toEqual([few, many]);
  },
  TIMEOUT_MS,
);

test(
  'a prompt is recorded layer by layer, while what is in front of it runs',
  async () => {
    const llama = await load('auto', { decode: 'f32', prefill: 'q8' }, 64);
    llama.submitOperations = 1;
    const step = { position: 0, nTokens: 8 };
    const list = llama.pass(step.nTokens, 'sample', step.position);
    const { gpu } = llama.batchSources;
    const submit = gpu.submit.bind(gpu);
    const operations = [list.operations];
    const spy = vi.spyOn(gpu, 'submit').mockImplementation((commands) => {
      operations.push(list.operations);
      submit(commands);
    });
    await list.run(step);
    spy.mockRestore();
    expect(operations[0]).toBe(0);
    expect(operations[1]).toBeGreaterThan(0);
    expect(operations[1]).toBeLessThan(list.operations);
    expect(operations).toEqual(operations.toSorted((a, b) => a - b));
  },
  TIMEOUT_MS,
);

test('gate and up leave h in signed bytes where tiles have whole blocks', { timeout: TIMEOUT_MS }, async () => {
  const { config, tensors } = await open();
  const [{ inputIds }, length] = [readFixture(NAME), 300];
  const ids = Uint32Array.from({ length }, (_, i) => inputIds[(i * i) % inputIds.length]);
  const cpu = new CpuLlama(config, await loadCpuWeights(tensors, undefined, 'q8'), length);
  const exact = Float32Array.from(cpu.prefill(ids, 0));
  const llama = await load('flash_prefill', { decode: 'f32', prefill: 'q8' }, length, () => hardwareGpu());
  const mlpOf = (nTokens: number) => {
    const labels = llama
      .pass(nTokens, 'none', 0)
      .submitsAt({ position: 0, nTokens })
      .flatMap(({ commands }) => commands);
    const all = labels.map(({ label }) => label.replace(/^kernels\//, ''));
    const from = all.findIndex((label) => label.startsWith('gate_up'));
    return all.slice(from, from + 3);
  };
  // The largest passes alone have tiles of 64 rows in a model of this size.
  const short = ['gate_up.matmul_q8', 'quantize_activations', 'residual.matmul_q8'];
  expect(mlpOf(256)).toEqual(short);
  expect(mlpOf(257)).toEqual(['gate_up_tile_q8.matmul_q8', 'residual.matmul_q8', 'quantize_activations']);
  await runPrompt(llama, ids, 300);
  const inBytes = await llama.readLogits();
  await runPrompt(llama, ids, 150);
  const inFloats = await llama.readLogits();
  for (const logits of [inBytes, inFloats]) expect(relativeError(logits, exact)).toBeLessThan(0.05);
  expect(relativeError(inBytes, inFloats)).toBeLessThan(1e-4);
});
