// The memory of a load: all that a model takes is allocated before its weights are read, with a shorter context where
// that is refused, and what cannot be had is an error that says what would fit.

import { GpuMemoryError, MemoryError } from '../../errors';
import type { Gpu } from '../../gpu/device';
import { allocateMemory, type MemoryRequest } from '../../model/memory';
import { allocateWeights } from '../../model/weights/weights';
import { arrived } from '../../shared/part';
import { readbackBytes } from '../backend/webgpu_backend';
import type { Wanted } from './load_inputs';

/** The context is not shortened below this, unless the model or the caller asks for less. */
export const LEAST_CONTEXT = 2048;

/**
 * Allocates the weights, then keys, values and activations for the longest context that the GPU grants.
 * @throws GpuMemoryError
 */
export async function allocateModel(gpu: Gpu, wanted: Wanted, profile: MemoryRequest['profile']) {
  const { tensors, config, contextLength, options } = wanted;
  const { kvCache: kvType, attention, quantize, activations } = options;
  const inBytes = activations === 'q8' || (activations === 'auto' && !gpu.isSoftware);
  const leastContext = Math.min(LEAST_CONTEXT, contextLength);
  const fixed = { kvType, attention, profile, laterBytes: readbackBytes(gpu), inBytes };
  const request = { contextLength, leastContext, ...fixed };
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
    const { refusalOf } = await arrived(import('./memory_refusal'));
    throw refusalOf(error, gpu, wanted, { ...request, contextLength: leastContext });
  }
}

/** Warns that the context is shorter than wanted, in place of an earlier warning of that kind. */
export function shorten({ config, options, warnings }: Wanted, contextLength: number, why: string): void {
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
