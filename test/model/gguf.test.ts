// GGUF files in every weight format, from file to logits: the GPU against the CPU reference on the same file.

import { describe, expect, test } from 'vitest';
import { CpuLlama } from '../../src/cpu/llama';
import { loadCpuWeights } from '../../src/engine/backend/cpu_backend';
import { readConfig } from '../../src/model/config/read';
import { Llama, type LlamaOptions } from '../../src/model/llama';
import { resolveTensors } from '../../src/model/weights/tensors';
import { allocateWeights, type QuantizedFormat } from '../../src/model/weights/weights';
import { openModel } from '../../src/storage/model_file';
import { relativeError } from '../close';
import { testGpu } from '../gpu/test_device';
import { GREEDY } from '../sampling/params';
import { value, writeGguf } from '../storage/write_gguf';
import { modelFile, ODD, SHAPE, STORIES, type Variant, WIDE } from './fixtures/tiny_gguf';

const IDS = Array.from({ length: 37 }, (_, i) => (i * 29) % SHAPE.vocab);
const STEPS = 16;

async function load(variant: Variant, quantize?: QuantizedFormat, options: Partial<LlamaOptions> = {}, size = SHAPE) {
  const gpu = await testGpu();
  const files = await openModel(modelFile(variant, size));
  const config = readConfig(files);
  const tensors = resolveTensors(files, config);
  const cpuWeights = await loadCpuWeights(tensors, undefined, quantize);
  const cpu = new CpuLlama(config, cpuWeights, 64);
  const { weights, read } = await allocateWeights(gpu, tensors, config, quantize);
  const shape: LlamaOptions = { contextLength: 64, kvType: 'f32', attention: 'auto', ...options };
  const llama = await Llama.create(gpu, config, weights, shape);
  await read(files);
  llama.start(weights);
  llama.setSampling(GREEDY);
  llama.writeTokens(Uint32Array.from(IDS), 0);
  return { gpu, llama, cpu };
}

describe('logits after a prefill and a step, then greedy ids', () => {
  const variants: { variant: Variant; quantize?: QuantizedFormat; size?: typeof SHAPE }[] = [
    { variant: { format: 'f32', ropeFactors: true }, size: STORIES },
    { variant: { format: 'f16', tied: true, biased: true }, size: ODD },
    { variant: { format: 'bf16' } },
    { variant: { format: 'q8', tied: true, ropeFactors: true } },
    { variant: { format: 'q4', biased: true } },
    { variant: { format: 'f16', tied: true, ropeFactors: true }, quantize: 'q8' },
    { variant: { format: 'bf16', biased: true }, quantize: 'q4', size: STORIES },
    { variant: { format: 'q4', biased: true, mixed: { attn_v: 'f16', ffn_down: 'q8', output: 'bf16' } } },
  ];
  for (const { variant, quantize, size = SHAPE } of variants) {
    const sizes = size === SHAPE ? '' : `, heads of ${size.headDim}, intermediate ${size.intermediate}`;
    const name = JSON.stringify(variant).replaceAll('"', '') + sizes;
    test(quantize ? `${name}, quantized to ${quantize}` : name, async () => {
      const { gpu, llama, cpu } = await load(variant, quantize, {}, size);
      const last = IDS.length - 1;
      llama.pass(last, 'none', 0).run({ position: 0, nTokens: last });
      llama.pass(1, 'sample', last).run({ position: last, nTokens: 1 });
      const logits = cpu.prefill(IDS, 0);
      expect(relativeError(await llama.readLogits(), logits)).toBeLessThan(2e-5);

      const expected = [argmax(logits)];
      for (let position = IDS.length; position < IDS.length + STEPS; position++) {
        llama.pass(1, 'sample', position).run({ position, nTokens: 1 });
        expected.push(argmax(cpu.forward(expected[expected.length - 1], position)));
      }
      const ids = new Uint32Array(await gpu.read(llama.tokens, 4 * (IDS.length + expected.length)));
      expect([...ids.subarray(IDS.length)]).toEqual(expected);
    });
  }
});

/** Mixes of llama.cpp: a Q4_K_M with K in full precision, and a Q5_K and a Q2_K with some tensors in other formats. */
const MIXED: [Variant, 'f32' | 'q8'][] = [
  [
    {
      format: 'Q4_K',
      mixed: { attn_k: 'F16', attn_v: 'Q6_K', ffn_up: 'Q6_K', ffn_down: 'Q6_K', output: 'Q6_K', token_embd: 'Q8_0' },
    },
    'q8',
  ],
  [
    { format: 'Q5_K', mixed: { attn_k: 'Q4_K', attn_v: 'Q6_K', ffn_down: 'Q5_1', token_embd: 'Q4_1' }, tied: true },
    'f32',
  ],
  [
    {
      format: 'Q2_K',
      mixed: { attn_v: 'Q3_K', ffn_down: 'Q3_K', attn_output: 'Q5_0', output: 'IQ4_NL' },
    },
    'f32',
  ],
];

test.each(MIXED)('%o, activations in %s, in a prefill and a step', async (variant, activations) => {
  const { gpu, llama, cpu } = await load(variant, undefined, { activations, attention: 'fused_decode' }, WIDE);
  const ids = IDS.map((id) => id % WIDE.vocab);
  llama.writeTokens(Uint32Array.from(ids), 0);
  const last = ids.length - 1;
  llama.pass(last, 'none', 0).run({ position: 0, nTokens: last });
  const step = llama.pass(1, 'sample', last);
  // One dispatch for each format of q, k and v, and of gate and up; the gated unit; attention, o, down; embed, head,
  // sample.
  const formats = (...stems: string[]) => new Set(stems.map((stem) => variant.mixed?.[stem] ?? variant.format)).size;
  const mlp = formats('ffn_gate', 'ffn_up') === 1 ? 1 : 3;
  expect(step.commands).toHaveLength(formats('attn_q', 'attn_k', 'attn_v') + mlp + 3 + 3);
  step.run({ position: last, nTokens: 1 });
  expect(llama.activations).toBe(activations);
  const far = relativeError(await llama.readLogits(), cpu.prefill(ids, 0));
  expect(far).toBeLessThan(activations === 'f32' ? 2e-5 : 0.05);
  expect(gpu.failure).toBeNull();
});

const argmax = (values: Float32Array) => values.indexOf(values.reduce((a, b) => Math.max(a, b)));

describe('a file that does not hold a model it could run is refused by name', () => {
  const refuse = (change: (bytes: Uint8Array) => Uint8Array) => async () => {
    const bytes = change(new Uint8Array(await modelFile({ format: 'q8' }).arrayBuffer()));
    const files = await openModel(new File([bytes as Uint8Array<ArrayBuffer>], 'broken.gguf'));
    return resolveTensors(files, readConfig(files));
  };
  const renamed = (from: string, to: string) => (bytes: Uint8Array) => {
    const at = Buffer.from(bytes).indexOf(from);
    bytes.set(Buffer.from(to), at);
    return bytes;
  };

  test('a missing tensor, and one that has no place', async () => {
    await expect(refuse(renamed('blk.1.ffn_up.weight', 'blk.1.ffn_xx.weight'))()).rejects.toThrow(
      /blk\.1\.ffn_up\.weight \(160, 96\) is missing/,
    );
  });

  test('another architecture', async () => {
    const bytes = writeGguf({ keys: [['general.architecture', value.string('mamba')]] });
    const files = await openModel(new File([bytes], 'mamba.gguf'));
    expect(() => readConfig(files)).toThrow(/"mamba" is not supported/);
  });

  test('a file cut short', async () => {
    await expect(refuse((bytes) => bytes.slice(0, -100))()).rejects.toMatchObject({ code: 'model-file' });
  });
});
