import type { RopeScaling } from '../../cpu/rope';
import type { ModelConfig } from './config';
import { MAX } from './reader';

/** What an architecture is made of, whatever file it comes in. */
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
>;

/** What most models have in common. */
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
};

const gemma = (hiddenSize: number) =>
  ({ activation: 'gelu_tanh', postNorms: true, embeddingScale: Math.sqrt(hiddenSize) }) as const;

/** How each differs from LLaMA by its design. What a file says of itself (windows, caps, scales) its reader adds. */
const ARCHITECTURES = {
  llama: () => ({}),
  mistral: () => ({}),
  qwen2: () => ({}),
  qwen3: () => ({ qkNorm: 'heads' }),
  smollm3: () => ({}),
  gemma2: gemma,
  gemma3: (hiddenSize) => ({ ...gemma(hiddenSize), qkNorm: 'heads' }),
  phi3: () => ({}),
  granite: () => ({}),
  olmo2: () => ({ preNorms: false, postNorms: true, qkNorm: 'vector' }),
} satisfies Record<string, (hiddenSize: number) => Partial<Traits>>;

export type ArchitectureName = keyof typeof ARCHITECTURES;

export function traitsOf(name: ArchitectureName, hiddenSize: number): Traits {
  return { ...PLAIN, ...(ARCHITECTURES[name](hiddenSize) as Partial<Traits>) };
}

/** Positions that a model can be used for: dynamic and yarn scaling reach further than the context of its training. */
export function stretchedContext(trained: number, scaling: RopeScaling | null): number {
  if (scaling?.type !== 'dynamic' && scaling?.type !== 'yarn') return trained;
  const stretched = Math.floor(scaling.factor * scaling.originalContextLength);
  return Math.min(MAX.context, Math.max(trained, stretched));
}
