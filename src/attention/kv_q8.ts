// The shader pieces of keys and values in signed bytes: a part that comes with the first load that asks for them.

import kvQ8 from '../../shaders/attention/kv/kv_q8.wgsl?raw';
import cells from '../../shaders/attention/kv/kv_scales_cells.wgsl?raw';
import octs from '../../shaders/attention/kv/kv_scales_octs.wgsl?raw';
import quads from '../../shaders/attention/kv/kv_scales_quads.wgsl?raw';

/** The pieces for siblings that bind the caches in quads, in octs, or the keys in cells of 16 bytes. */
export const KV_PIECES = { quads: [kvQ8, quads], octs: [kvQ8, octs], cells: [kvQ8, cells] } as const;

export type KvCells = keyof typeof KV_PIECES;
