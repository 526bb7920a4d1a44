// How the lanes of a subgroup share keys and values in attention: arithmetic on the shape of a head. The kernels are
// those of shaders/attention/lanes.

interface Lanes {
  /** Lanes of the smallest subgroup. */
  SUBGROUP: number;
  /** Lanes that share a key. */
  KEY_LANES: number;
  /** Cells of a key that a lane has. */
  CELLS_EACH: number;
  /** Lanes that share a value, of eight columns each. */
  V_LANES: number;
}

/** Bytes of a key that a lane has on its way, where a subgroup has lanes enough. */
const KEY_BYTES = 64;

/** A cell, which a lane reads of a key at once: its bytes, and the dimensions in them. */
export const CELLS = {
  f16: { bytes: 16, dims: 8 },
  f32: { bytes: 32, dims: 8 },
  q8: { bytes: 16, dims: 16 },
} as const;

interface Head {
  kvType: keyof typeof CELLS;
  /** A multiple of the dimensions of a cell. */
  headDim: number;
}

export function planLanes({ kvType, headDim }: Head, SUBGROUP: number): Lanes {
  const { bytes, dims } = CELLS[kvType];
  const cells = headDim / dims;
  const KEY_LANES = Math.min(SUBGROUP, powerFrom(Math.ceil((cells * bytes) / KEY_BYTES)));
  const CELLS_EACH = Math.ceil(cells / KEY_LANES);
  const V_LANES = Math.min(SUBGROUP, Math.max(KEY_LANES, powerFrom(headDim / 8)));
  return { SUBGROUP, KEY_LANES, CELLS_EACH, V_LANES };
}

/** Vectors of workgroup memory for `quads` times four heads: q and the states of the subgroups. */
export function laneVectors({ kvType }: Head, lanes: Lanes, quads: number, subgroups: number): number {
  const q = lanes.KEY_LANES * lanes.CELLS_EACH * (kvType === 'q8' ? 4 : CELLS[kvType].dims);
  return quads * (q + 2 * subgroups);
}

/** The smallest power of two from `least` on. */
function powerFrom(least: number): number {
  return 2 ** Math.ceil(Math.log2(least));
}
