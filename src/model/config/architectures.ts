// The traits of the supported architectures.

import type { RopeScaling } from '../../cpu/rope';
import type { EmbeddingConfig, ModelConfig } from './config';
import { MAX } from './reader';

/** The traits of an architecture, independent of the file format. */
export type Traits = Pick<
  ModelConfig,
  | 'activation'
  | 'normOffset'
  | 'preNorms'
  | 'postNorms'
  | 'qkNorm'
  | 'embeddingScale'
  | 'attentionSoftcap'
  | 'residualScale'
  | 'logitScale'
  | 'logitSoftcap'
  | 'causal'
  | 'embedsOnly'
  | 'embedding'
>;

/** The traits of most models. */
export const PLAIN: Traits = {
  activation: 'silu',
  normOffset: 0,
  preNorms: true,
  postNorms: false,
  qkNorm: 'none',
  embeddingScale: 1,
  attentionSoftcap: null,
  residualScale: 1,
  logitScale: 1,
  logitSoftcap: null,
  causal: true,
  embedsOnly: false,
  embedding: { pooling: 'last', normalized: true, dense: [] },
};

const gemma = (hiddenSize: number) =>
  ({ activation: 'gelu_tanh', postNorms: true, embeddingScale: Math.sqrt(hiddenSize) }) as const;

/** The traits of a model without a causal mask. */
export const BOTH_WAYS = { causal: false, embedsOnly: true } as const;

export const MEAN: EmbeddingConfig = { pooling: 'mean', normalized: true, dense: [] };

/**
 * Differences from LLaMA by design. The reader of a file adds the differences that the file states (windows, caps,
 * scales).
 */
const ARCHITECTURES = {
  llama: () => ({}),
  mistral: () => ({}),
  qwen2: () => ({}),
  qwen3: () => ({ qkNorm: 'heads' }),
  smollm3: () => ({}),
  gemma2: gemma,
  gemma3: (hiddenSize) => ({ ...gemma(hiddenSize), qkNorm: 'heads' }),
  'gemma-embedding': (hiddenSize) => ({ ...gemma(hiddenSize), qkNorm: 'heads', ...BOTH_WAYS, embedding: MEAN }),
  phi3: () => ({}),
  granite: () => ({}),
  olmo2: () => ({ preNorms: false, postNorms: true, qkNorm: 'vector' }),
} satisfies Record<string, (hiddenSize: number) => Partial<Traits>>;

export type ArchitectureName = keyof typeof ARCHITECTURES;

export function traitsOf(name: ArchitectureName, hiddenSize: number): Traits {
  return { ...PLAIN, ...(ARCHITECTURES[name](hiddenSize) as Partial<Traits>) };
}

/** The window of a layer in which half of the file's window lies on either side of a token. */
export function halfWindow(window: number | null): number | null {
  return window === null ? null : Math.floor(window / 2) + 1;
}

/** Most positions of a model. Dynamic and yarn scaling reach further than the context of its training. */
export function stretchedContext(trained: number, scaling: RopeScaling | null): number {
  if (scaling?.type !== 'dynamic' && scaling?.type !== 'yarn') return trained;
  const stretched = Math.floor(scaling.factor * scaling.originalContextLength);
  return Math.min(MAX.context, Math.max(trained, stretched));
}
