// Which token of a pass is whose: the table that places/batch.wgsl reads.

import wgsl from '../../shaders/places/batch.wgsl?raw';
import { GPU_COPY_DST, GPU_UNIFORM, type Gpu } from '../gpu/device';
import { constantLines, type RowTable } from '../gpu/kernel';
import { FEW_TOKENS } from './linear/matmul_few';

/** Steps whose ids are kept: more than are ever in flight. */
export const TOKEN_RING = 128;

/** Conversations that step together, at most: as many slots. */
export const SLOTS = FEW_TOKENS;

/** A conversation in a step. */
export interface BatchRow {
  slot: number;
  /** The position of the token that its next step reads. */
  position: number;
}

export interface Rows extends RowTable {
  /** Makes the steps from `step` on those of these conversations. */
  set(step: number, rows: readonly BatchRow[]): void;
  destroy(): void;
}

const ROW_WORDS = 4;

/** @param slots conversations in the cache of keys and values */
export function createRows(gpu: Gpu, slots: number): Rows {
  const label = 'batch.rows';
  const buffer = gpu.createBuffer(label, 4 * ROW_WORDS * SLOTS, GPU_UNIFORM | GPU_COPY_DST);
  const entry = { binding: 0, visibility: 4, buffer: { type: 'uniform' as const } };
  const layout = gpu.device.createBindGroupLayout({ label, entries: [entry] });
  const group = gpu.device.createBindGroup({ label, layout, entries: [{ binding: 0, resource: { buffer } }] });
  const index = gpu.can.immediates ? 1 : 2; // behind the step's uniform
  const constants = constantLines({ ROWS_GROUP: index, SLOTS, KV_SLOTS: slots, TOKEN_RING });
  return {
    most: SLOTS,
    wgsl: `${constants}\n${wgsl}`,
    index,
    layout,
    group,
    set(step, rows) {
      const words = new Uint32Array(ROW_WORDS * SLOTS);
      for (const [i, { slot, position }] of rows.entries()) words.set([slot, position - step], ROW_WORDS * i); // wraps
      gpu.write(buffer, words);
    },
    destroy: () => gpu.destroyBuffer(buffer),
  };
}
