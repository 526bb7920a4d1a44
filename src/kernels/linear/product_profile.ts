// What a tuner found for the products of a model, and how it is used: by shape, and only where it fits this GPU.

import { GpuProgramError } from '../../errors';
import type { Gpu } from '../../gpu/device';
import { type Epilogue, type Linear, type LinearShape, ownRows } from './linear';
import { createMatmulQ8, type MatmulQ8Shape, type Tiles } from './matmul_q8';
import { createMatvec, type MatvecInput } from './matvec';
import type { MatvecParameters } from './matvec_plan';
import type { WeightFormat } from './weight_format';

/** The fastest correct parameters by `productKey`; good for one GPU, one browser and these shaders only. */
export interface ProductProfile {
  /** Of one token. */
  products: Readonly<Record<string, MatvecParameters>>;
  /** Of many tokens. */
  tiles: Readonly<Record<string, Tiles>>;
  /** When it was measured, ISO 8601. */
  tunedAt: string;
}

/** One candidate of a tuner for a product: measured, or refused with the reason. */
export interface ProductResult {
  pass: 'product';
  name: 'qkv' | 'o' | 'gate_up' | 'down' | 'head';
  rows: number;
  cols: number;
  format: WeightFormat;
  /** How activations come (MatvecInput). */
  input: MatvecInput;
  /** Tokens of the pass: 1 in decode, where parameters are MatvecParameters; more in prefill, where they are Tiles. */
  nTokens: number;
  parameters: Record<string, number>;
  /** What runs untuned. */
  isDefault: boolean;
  /** Milliseconds of one product with cold weights; null when refused. */
  ms: number | null;
  refused: string | null;
  /** Whether it is the one that is kept. */
  fastest: boolean;
}

/** Equal for products that run alike: by the epilogue's label, the matrix, and how activations come. */
export function productKey(name: string, shape: LinearShape, input: MatvecInput): string {
  const { cols, format } = shape;
  return `${name.slice(name.lastIndexOf('/') + 1)} ${ownRows(shape)}x${cols} ${format} ${input}`;
}

/**
 * createMatvec with the parameters of the profile, or with the defaults where there are none that run here.
 * @throws GpuProgramError where the defaults do not run either
 */
export function createTunedMatvec(
  gpu: Gpu,
  shape: LinearShape,
  epilogue: Epilogue,
  input: MatvecInput,
  profile: ProductProfile | null,
): Promise<Linear> {
  const tuned = find(profile?.products, productKey(epilogue.label, shape, input));
  return firstThatRuns(tuned, (given) => createMatvec(gpu, shape, epilogue, input, given));
}

/** The same for createMatmulQ8. */
export function createTunedMatmulQ8(
  gpu: Gpu,
  shape: MatmulQ8Shape,
  epilogue: Epilogue,
  profile: ProductProfile | null,
): Promise<Linear> {
  const tuned = find(profile?.tiles, productKey(epilogue.label, shape, 'q8'));
  return firstThatRuns(tuned, (given) => createMatmulQ8(gpu, shape, epilogue, given));
}

function find<T>(entries: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return entries && Object.hasOwn(entries, key) ? entries[key] : undefined;
}

/** A profile is as untrusted as a file: what it names may not fit, or not compile, and then it is as if it were not there. */
async function firstThatRuns<T>(tuned: T | undefined, create: (given?: T) => Promise<Linear>): Promise<Linear> {
  if (tuned === undefined) return create();
  try {
    return await create(tuned);
  } catch (error) {
    if (error instanceof GpuProgramError) return create();
    throw error;
  }
}
