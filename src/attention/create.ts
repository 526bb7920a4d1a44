// Compiles a sibling by its name.

import type { Gpu } from '../gpu/device';
import { arrived } from '../shared/part';
import type { AttentionKernel, AttentionName, AttentionShape } from './attention';
import { createFusedDecode } from './decode/fused_decode';
import { createSplitKvDecode } from './decode/split_kv_decode';
import { createFlashPrefill } from './prefill/flash_prefill';

/** Compiles the sibling of that name. Parameters left out take their defaults. */
export async function createAttention(
  gpu: Gpu,
  name: AttentionName,
  shape: AttentionShape,
  parameters?: Record<string, number>,
): Promise<AttentionKernel> {
  switch (name) {
    case 'cpu':
    case 'chunked':
    case 'eager': {
      const { createBaseline } = await arrived(import('./baselines/baselines'));
      return createBaseline(gpu, name, shape, parameters);
    }
    case 'flash_prefill':
      return createFlashPrefill(gpu, shape, parameters);
    case 'flash_prefill_q8': {
      const { createFlashPrefillQ8 } = await arrived(import('./prefill/flash_prefill_q8'));
      return createFlashPrefillQ8(gpu, shape, parameters);
    }
    case 'fused_decode':
      return createFusedDecode(gpu, shape, parameters);
    case 'split_kv_decode':
      return createSplitKvDecode(gpu, shape, parameters);
    default:
      throw name satisfies never;
  }
}
