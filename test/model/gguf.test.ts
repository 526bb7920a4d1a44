// GGUF files in every weight format, from file to logits: the GPU against the textbook on the same file.

import { describe, expect, test } from 'vitest';
import { CpuLlama } from '../../src/cpu/llama';
import { loadCpuWeights } from '../../src/engine/cpu_backend';
import type { WeightFormat } from '../../src/kernels/weight_format';
import { readConfig } from '../../src/model/config';
import { Llama } from '../../src/model/llama';
import { resolveTensors } from '../../src/model/tensors';
import { allocateWeights } from '../../src/model/weights';
import { openModel } from '../../src/storage/model_file';
import { relativeError } from '../close';
import { testGpu } from '../gpu/test_device';
import { randomFileBytes } from '../kernels/file_bytes';
import { randomArray } from '../random';
import { type GgufTensor, value, writeGguf } from '../storage/write_gguf';

const GGML_TYPE: Record<WeightFormat, number> = { f32: 0, f16: 1, q4: 2, q8: 8, bf16: 30 };
const SHAPE = { vocab: 133, hidden: 96, intermediate: 160, layers: 2, heads: 6, kvHeads: 2, headDim: 32 };
const IDS = Array.from({ length: 37 }, (_, i) => (i * 29) % SHAPE.vocab);

interface Variant {
  format: WeightFormat;
  tied?: boolean;
  ropeFactors?: boolean;
  biased?: boolean;
}

function modelFile({ format, tied = false, ropeFactors = false, biased = false }: Variant): File {
  const { vocab, hidden, intermediate, layers, heads, kvHeads, headDim } = SHAPE;
  let seed = 1;
  const matrix = (name: string, rows: number, cols: number): GgufTensor => ({
    name,
    ne: [cols, rows],
    type: GGML_TYPE[format],
    data: randomFileBytes(format, rows * cols, seed++),
  });
  const vector = (name: string, size: number, around: number): GgufTensor => ({
    name,
    ne: [size],
    type: GGML_TYPE.f32,
    data: new Uint8Array(randomArray(size, seed++, 0.5).map((v) => v + around).buffer),
  });
  const layer = (i: number) => [
    vector(`blk.${i}.attn_norm.weight`, hidden, 1),
    matrix(`blk.${i}.attn_q.weight`, heads * headDim, hidden),
    matrix(`blk.${i}.attn_k.weight`, kvHeads * headDim, hidden),
    matrix(`blk.${i}.attn_v.weight`, kvHeads * headDim, hidden),
    matrix(`blk.${i}.attn_output.weight`, hidden, heads * headDim),
    vector(`blk.${i}.ffn_norm.weight`, hidden, 1),
    matrix(`blk.${i}.ffn_gate.weight`, intermediate, hidden),
    matrix(`blk.${i}.ffn_up.weight`, intermediate, hidden),
    matrix(`blk.${i}.ffn_down.weight`, hidden, intermediate),
    ...(biased
      ? [
          vector(`blk.${i}.attn_q.bias`, heads * headDim, 0),
          vector(`blk.${i}.attn_k.bias`, kvHeads * headDim, 0),
          vector(`blk.${i}.attn_v.bias`, kvHeads * headDim, 0),
        ]
      : []),
  ];
  const bytes = writeGguf({
    keys: [
      ['general.architecture', value.string('llama')],
      ['llama.block_count', value.u32(layers)],
      ['llama.context_length', value.u32(64)],
      ['llama.embedding_length', value.u32(hidden)],
      ['llama.feed_forward_length', value.u32(intermediate)],
      ['llama.attention.head_count', value.u32(heads)],
      ['llama.attention.head_count_kv', value.u32(kvHeads)],
      ['llama.attention.key_length', value.u32(headDim)],
      ['llama.attention.value_length', value.u32(headDim)],
      ['llama.attention.layer_norm_rms_epsilon', value.f32(1e-5)],
      ['llama.rope.freq_base', value.f32(5000)],
    ],
    tensors: [
      matrix('token_embd.weight', vocab, hidden),
      ...Array.from({ length: layers }, (_, i) => layer(i)).flat(),
      vector('output_norm.weight', hidden, 1),
      ...(tied ? [] : [matrix('output.weight', vocab, hidden)]),
      ...(ropeFactors ? [vector('rope_freqs.weight', headDim / 2, 4)] : []),
    ],
  });
  return new File([bytes], `${format}.gguf`);
}

async function logitsOf(variant: Variant) {
  const gpu = await testGpu();
  const files = await openModel(modelFile(variant));
  const config = readConfig(files);
  const tensors = resolveTensors(files, config);
  const { factors, ...cpuWeights } = await loadCpuWeights(tensors);
  const cpu = new CpuLlama({ ...config, rope: { ...config.rope, factors } }, cpuWeights, 64);
  const { weights, read } = await allocateWeights(gpu, tensors, config);
  const llama = await Llama.create(gpu, config, weights, { contextLength: 64, kvType: 'f32', attention: 'auto' });
  await read(files);
  llama.start(weights);
  llama.writeTokens(Uint32Array.from(IDS), 0);
  llama.pass(IDS.length - 1, 'none', 0).run({ position: 0, nTokens: IDS.length - 1 });
  llama.pass(1, 'sample', IDS.length - 1).run({ position: IDS.length - 1, nTokens: 1 });
  return { gpu: await llama.readLogits(), cpu: cpu.prefill(IDS, 0) };
}

describe('logits after a prefill and a step', () => {
  const variants: Variant[] = [
    { format: 'f32', ropeFactors: true },
    { format: 'f16', tied: true, biased: true },
    { format: 'bf16' },
    { format: 'q8', tied: true, ropeFactors: true },
    { format: 'q4', biased: true },
  ];
  for (const variant of variants) {
    test(Object.entries(variant).flat().join(' '), async () => {
      const { gpu, cpu } = await logitsOf(variant);
      expect(relativeError(gpu, cpu)).toBeLessThan(2e-5);
    });
  }
});

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
