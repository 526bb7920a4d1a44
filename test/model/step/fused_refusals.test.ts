// Models that the fused step does not run: a load that asks for it by name is refused with the reason.

import { expect, test } from 'vitest';
import type { Gpu } from '../../../src/gpu/device';
import { createDecodeStep } from '../../../src/model/step/decode_step';
import { checkStep } from '../../../src/model/step/step_choice';
import { openModel } from '../../../src/storage/model_file';
import { fixtureFolder } from '../../cpu/fixtures';
import { testGpu } from '../../gpu/test_device';
import { droppedFolder } from '../fixtures/files';
import { modelFile, SHAPE, type Variant } from '../fixtures/tiny_gguf';
import { fusedSources } from './fused_run';

type Sources = Parameters<typeof createDecodeStep>[0];
type Change = (sources: Sources) => Partial<Sources>;

interface Case {
  /** A fixture, or a small file. Default: a small file in q8. */
  model?: string | Variant;
  shape?: Partial<typeof SHAPE>;
  quantize?: 'q8';
  gpu?: () => Promise<Gpu>;
  /** What is different from a model that would run. */
  change?: Change;
  attention?: string;
}

const config =
  (change: Partial<Sources['config']>): Change =>
  ({ config }) => ({ config: { ...config, ...change } });

/** The same device with another property. */
const gpuWith =
  (name: keyof Gpu, value: unknown): Change =>
  ({ gpu }) => ({
    gpu: Object.create(gpu, { [name]: { value } }),
  });

const CASES: Record<string, Case> = {
  'the adapter has no subgroups': { gpu: () => testGpu(['subgroups']) },
  'GPUs by Apple do not promise that waiting workgroups go on': { change: gpuWith('isApple', true) },
  'layers normalize their outputs': { model: 'gemma3' },
  'q and k are normalized over all heads at once': { change: config({ qkNorm: 'vector' }) },
  'attention scores are capped': { change: config({ attentionSoftcap: 30 }) },
  'some layer has a window': { model: 'mistral_window' },
  'layers differ in RoPE': { model: 'smollm3' },
  'o, gate, up or down has a bias': { model: 'f16_group3_hd32_bias_sharded' },
  'layers differ in biases': {
    change: ({ weights }) => ({
      weights: {
        ...weights,
        layers: weights.layers.map((layer, i) => ({ ...layer, qkv: { ...layer.qkv, biased: i === 0 } })),
      },
    }),
  },
  'a layer is larger than one binding of this GPU': {
    change: ({ weights }) => ({ weights: { ...weights, arenas: [] } }),
  },
  'layer 0: qkv is stored as f16, which has no integers': { model: { format: 'f16' } },
  'layer 0: down is stored as q2_k, which has no integers': {
    model: { format: 'q8', mixed: { ffn_down: 'Q2_K' } },
    shape: { intermediate: 256 },
  },
  'layer 0: qkv has 3 formats, more than 2': { model: { format: 'q8', mixed: { attn_k: 'q4', attn_v: 'q4_1' } } },
  'layer 0: gateUp has 2 formats, more than 1': { model: { format: 'q8', mixed: { ffn_up: 'q4' } } },
  'layer 1: gateUp takes more than one binding': {
    change: ({ weights }) => ({
      weights: {
        ...weights,
        layers: weights.layers.map((layer, i) => {
          const { matrix } = layer.gateUp;
          const parts = [...matrix.parts, ...(i === 1 ? matrix.parts : [])];
          return { ...layer, gateUp: { ...layer.gateUp, matrix: { ...matrix, parts } } };
        }),
      },
    }),
  },
  'it binds 9 storage buffers, of which this GPU allows 8': {
    model: { format: 'q4_k' },
    shape: { hidden: 256, intermediate: 256, heads: 4, headDim: 64 },
    change: gpuWith('limits', { maxStorageBuffersPerShaderStage: 8 }),
  },
  'activations are f32, and the fused step multiplies signed bytes': {
    change: () => ({ activations: { decode: 'f32', prefill: 'q8' } }),
  },
  'heads of 24 values are no multiple of 16': {
    model: { format: 'f32' },
    shape: { heads: 4, headDim: 24 },
    quantize: 'q8',
  },
  'attention "eager" was asked for by name': { attention: 'eager' },
};

/** The refusal of a load with `step: 'fused'`. */
async function refusal({ model = { format: 'q8' }, shape, quantize, gpu = testGpu, change, attention = 'auto' }: Case) {
  const dropped =
    typeof model === 'string' ? droppedFolder(fixtureFolder(model)) : modelFile(model, { ...SHAPE, ...shape });
  const options = { contextLength: 32, quantize };
  const { sources } = await fusedSources(await gpu(), await openModel(dropped), options);
  const step = await createDecodeStep({ ...sources, ...change?.(sources) }, { step: 'fused', attention });
  expect(step.fused).toBeNull();
  try {
    checkStep('fused', step.choice);
  } catch (error) {
    return error;
  }
}

test.each(Object.entries(CASES))('%s', async (reason, given) => {
  expect(await refusal(given)).toMatchObject({
    code: 'invalid-request',
    message: `Step "fused" cannot run here: ${reason}. Choose step auto or plain.`,
  });
});
