// The siblings that others are measured against: a part of the engine that comes when one is asked for by name, or when
// no other is right.

import type { Gpu } from '../../gpu/device';
import type { AttentionKernel, AttentionShape } from '../attention';
import { createChunked } from './chunked';
import { createCpu } from './cpu';
import { createEager } from './eager';

const CREATE = { chunked: createChunked, cpu: createCpu, eager: createEager };

/** Compiles the sibling of that name. Parameters left out take their defaults. */
export async function createBaseline(
  gpu: Gpu,
  name: keyof typeof CREATE,
  shape: AttentionShape,
  parameters?: Record<string, number>,
): Promise<AttentionKernel> {
  return CREATE[name](gpu, shape, parameters);
}
