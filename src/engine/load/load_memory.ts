// The memory of a load: all that a model takes is allocated before its weights are read, with a shorter context where
// that is refused, and what cannot be had is an error that says what would fit.

import { GpuMemoryError, MemoryError } from '../../errors';
import type { Gpu } from '../../gpu/device';
import type { ModelConfig } from '../../model/config/config';
import { kvBytesPerToken } from '../../model/kv_cache';
import { allocateMemory, type MemoryRequest, memoryNeed } from '../../model/memory';
import type { ModelTensors } from '../../model/tensors';
import { allocateWeights, hasPlainMatrix, planWeights } from '../../model/weights';
import { readbackBytes } from '../backend/webgpu_backend';
import type { Warning } from '../protocol';
import type { ResolvedLoad } from './load_options';

/** The context is not shortened below this, unless the model or the caller asks for less. */
const LEAST_CONTEXT = 2048;
/** Most bytes of the cpu backend, which holds every weight in f32, within a tab's memory. */
const CPU_BYTES = 2 ** 32;

interface Wanted {
  tensors: ModelTensors;
  config: ModelConfig;
  contextLength: number;
  options: ResolvedLoad;
  warnings: Warning[];
}

/**
 * Allocates the weights, then keys, values and activations for the longest context that the GPU grants.
 * @throws GpuMemoryError
 */
export async function allocateModel(gpu: Gpu, wanted: Wanted, profile: MemoryRequest['profile']) {
  const { tensors, config, contextLength, options } = wanted;
  const { kvCache: kvType, attention, quantize } = options;
  const leastContext = Math.min(LEAST_CONTEXT, contextLength);
  const request = { contextLength, leastContext, kvType, attention, profile, laterBytes: readbackBytes(gpu) };
  try {
    const { weights, read } = await allocateWeights(gpu, tensors, config, quantize);
    const { refused, ...memory } = await allocateMemory(gpu, config, weights, request);
    if (refused) {
      const why = `the GPU refused ${refused.requestedBytes} bytes for more beside ${weights.bytes} of weights`;
      shorten(wanted, memory.contextLength, why);
    }
    return { weights, read, memory };
  } catch (error) {
    if (!(error instanceof GpuMemoryError) || error.grantedBytes !== null) throw error;
    throw refusalOf(error, gpu, wanted, { ...request, contextLength: leastContext });
  }
}

/** The refusal with all that the model needs with the shortest context, and what would need less. */
function refusalOf(error: GpuMemoryError, gpu: Gpu, wanted: Wanted, request: MemoryRequest): GpuMemoryError {
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

/** The longest context, at most that wanted, with which the model fits the CPU. @throws MemoryError */
export function chooseCpuContext(parameters: number, wanted: Wanted): { contextLength: number; bytes: number } {
  const { config, contextLength } = wanted;
  const perToken = kvBytesPerToken(config, 'f32');
  const bytesOf = (tokens: number) => 4 * parameters + perToken * tokens;
  const least = Math.min(LEAST_CONTEXT, contextLength);
  if (bytesOf(least) > CPU_BYTES) {
    const most = Math.max(0, Math.floor((CPU_BYTES - perToken * least) / 4));
    const what = `On the CPU this model (${parameters} parameters in f32, and ${least} tokens of context)`;
    const remedy = `Use a browser with WebGPU, or a model of at most ${most} parameters.`;
    throw new MemoryError(what, bytesOf(least), CPU_BYTES, remedy);
  }
  const fits = Math.min(contextLength, Math.floor((CPU_BYTES - 4 * parameters) / perToken));
  if (fits < contextLength) {
    shorten(wanted, fits, `more would take ${bytesOf(contextLength)} bytes on the CPU, where ${CPU_BYTES} are allowed`);
  }
  return { contextLength: fits, bytes: bytesOf(fits) };
}

/** Warns that the context is shorter than wanted, in place of an earlier warning of that kind. */
function shorten({ config, options, warnings }: Wanted, contextLength: number, why: string): void {
  const code = 'context-shortened';
  const before = warnings.findIndex((warning) => warning.code === code);
  if (before >= 0) warnings.splice(before, 1);
  const asked = options.contextLength ?? config.contextLength;
  const message = `The context is ${contextLength} tokens instead of ${asked}: ${why}.`;
  warnings.push({ code, message, facts: { contextLength, asked } });
}

/** The words of browsers for memory that they refuse to an ArrayBuffer. */
const NO_MEMORY = /alloc|memory|(array|buffer) length|too large/i;

/** A typed error where `error` is memory that the browser refused; else the error. */
export function typedMemory(error: unknown, bytes: number): unknown {
  if (!(error instanceof RangeError && NO_MEMORY.test(error.message))) return error;
  return new MemoryError('Loading this model', bytes, null, 'Close other tabs, or choose a smaller model or context.');
}
