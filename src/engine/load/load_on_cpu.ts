// A load on the CPU: a part that comes where there is no GPU.

import { AttentionUnavailable, InvalidRequestError, MemoryError } from '../../errors';
import { kvBytesPerToken } from '../../model/kv/kv_cache';
import { checkStep } from '../../model/step/step_choice';
import { CPU_STEP, CpuBackend, loadCpuWeights } from '../backend/cpu_backend';
import { CPU_ARITHMETIC } from './choose_arithmetic';
import type { LoadedBackend, LoadInputs, Wanted } from './load_inputs';
import { LEAST_CONTEXT, shorten, typedMemory } from './load_memory';

/** Most bytes of the cpu backend, which holds every weight in f32, within a tab's memory. */
const CPU_BYTES = 2 ** 32;

/** @throws MemoryError, or the refusal of an option that the CPU does not have */
export async function loadOnCpu(inputs: LoadInputs, parameters: number): Promise<LoadedBackend> {
  const { files, config, tensors, options, signal } = inputs;
  if (options.attention !== 'auto') {
    throw new AttentionUnavailable(options.attention, 'the cpu backend runs plain loops and has no attention kernels');
  }
  if (options.activations === 'q8') {
    throw new InvalidRequestError(
      'Activations q8 need WebGPU: the cpu backend computes in f32. Choose auto or f32.',
      'activations',
    );
  }
  checkStep(options.step, CPU_STEP);
  const { contextLength, bytes } = chooseCpuContext(parameters, inputs);
  try {
    const weights = await loadCpuWeights(tensors, signal, options.quantize, files.tensors.keys());
    const backend = new CpuBackend(config, weights, contextLength);
    return { backend, activations: 'f32', arithmetic: CPU_ARITHMETIC, gpuBytes: null, bytesPerToken: null };
  } catch (error) {
    throw typedMemory(error, bytes);
  }
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
