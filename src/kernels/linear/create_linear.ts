// The door to linears: picks the kernel for a pass and an input, with the tuned parameters where they run on this GPU.

import { GpuProgramError } from '../../errors';
import type { Bindable } from '../../gpu/buffer_range';
import type { Gpu } from '../../gpu/device';
import type { Epilogue, Linear, LinearShape } from './linear';
import { createMatmul } from './matmul';
import { createMatmulQ8, hasIntegers } from './matmul_q8';
import { createMatvec, type MatvecInput } from './matvec';
import { type ProductProfile, productKey } from './product_profile';
import type { WeightMatrix } from './weight_format';

/** `decode`: the last token of a pass. `prefill`: all tokens. */
export type LinearPass = 'decode' | 'prefill';

/** A linear as a model made it, so that it can be made again with other parameters. */
export interface MadeLinear {
  pass: LinearPass;
  shape: LinearShape;
  epilogue: Epilogue;
  input: MatvecInput;
  matrix: WeightMatrix;
  params: GPUBuffer;
  /** The activations, then the buffers of the epilogue. */
  buffers: readonly Bindable[];
}

/**
 * Compiles a linear. In prefill the input is `f32` or `q8`, the latter for formats with integers alone.
 * @throws GpuProgramError where not even the default parameters run
 */
export function createLinear(
  gpu: Gpu,
  pass: LinearPass,
  shape: LinearShape,
  epilogue: Epilogue,
  input: MatvecInput,
  tuned: ProductProfile | null,
): Promise<Linear> {
  const { format } = shape;
  const key = productKey(epilogue.label, shape, input);
  if (pass === 'decode') {
    return firstThatRuns(tuned?.matvec, key, (given) => createMatvec(gpu, shape, epilogue, input, given));
  }
  if (input === 'f32' || !hasIntegers(format)) return createMatmul(gpu, shape, epilogue);
  return firstThatRuns(tuned?.tiles, key, (given) => createMatmulQ8(gpu, { ...shape, format }, epilogue, given));
}

/** A profile is as untrusted as a file: parameters that do not fit or do not compile count as absent. */
async function firstThatRuns<T>(
  entries: Readonly<Record<string, T>> | undefined,
  key: string,
  create: (given?: T) => Promise<Linear>,
): Promise<Linear> {
  if (!entries || !Object.hasOwn(entries, key)) return create();
  try {
    return await create(entries[key]);
  } catch (error) {
    if (error instanceof GpuProgramError) return create();
    throw error;
  }
}
