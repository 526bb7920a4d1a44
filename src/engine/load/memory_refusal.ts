// What is said where a GPU has no memory for a model: a part that comes with the refusal.

import { GpuMemoryError } from '../../errors';
import type { Gpu } from '../../gpu/device';
import { type MemoryRequest, memoryNeed } from '../../model/memory';
import { hasPlainMatrix, planWeights } from '../../model/weights/weights';
import type { Wanted } from './load_inputs';
import type { ResolvedLoad } from './load_options';

/** The refusal with all that the model needs with the shortest context, and what would need less. */
export function refusalOf(error: GpuMemoryError, gpu: Gpu, wanted: Wanted, request: MemoryRequest): GpuMemoryError {
  const { tensors, config, options } = wanted;
  const needOf = (quantize: ResolvedLoad['quantize']) => {
    const weights = planWeights(gpu, tensors, config, quantize);
    const { kvCache, rest } = memoryNeed(gpu, config, weights, request);
    const all = weights.allBytes + kvCache + rest;
    return { weights: weights.bytes, kvCache, rest: all - weights.bytes - kvCache, all };
  };
  const need = needOf(options.quantize);
  const q4 = options.quantize !== 'q4' && hasPlainMatrix(tensors);
  const smaller = q4 ? `Load it with quantize q4, which needs ${needOf('q4').all}` : 'Choose a smaller model or format';
  const what =
    `This model (${need.weights} bytes of weights, ${need.kvCache} of keys and values for ` +
    `${request.contextLength} tokens, ${need.rest} of the rest)`;
  const remedy = `${smaller}, or close other GPU pages.`;
  return new GpuMemoryError(what, need.all, error.usedBytes, remedy, { canRetry: true });
}
