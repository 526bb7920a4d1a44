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
const KEY_BYTES = 32;

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

/** Vectors of workgroup memory for `quads` times four heads: q, its largest where in bytes, states of the subgroups. */
export function laneVectors({ kvType }: Head, lanes: Lanes, quads: number, subgroups: number): number {
  const cells = lanes.KEY_LANES * lanes.CELLS_EACH;
  const q = kvType === 'q8' ? 4 * cells + 1 : CELLS[kvType].dims * cells;
  return quads * (q + 2 * subgroups);
}

/** The parts of shaders/attention/lanes/lanes.wgsl that index registers of a lane: written out, without loops. */
export function unrolledLanes(headDim: number, heads: number, { SUBGROUP, KEY_LANES, V_LANES }: Lanes): string {
  const quads = Math.ceil(heads / 4);
  const octs = Math.ceil(headDim / 8 / V_LANES);
  const slices = SUBGROUP / V_LANES;
  const each = (count: number, write: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => write(i)).join('\n  ');
  const o = (h: number, e: number) => `(*o)[${h * octs + e}u]`;
  // m of a subgroup to the largest of these scores.
  const raise = (h: number) => `{
    let most = raised((*m)[${h}u], s[${h}u]);
    let alpha = softmax_p4((*m)[${h}u], most);
    (*m)[${h}u] = most;
    (*l)[${h}u] *= alpha;
    ${each(octs, (e) => `${o(h, e)} = scaled(${o(h, e)}, alpha);`)}
  }`;
  // Adds the values of a tile, of which lane `source` has p of the first.
  const add = (i: number) => `{
    ${each(octs, (e) => `let v${e} = kv_oct((*values)[${i * octs + e}u]);`)}
    ${each(
      quads,
      (h) => `let p${h} = subgroupShuffle(s[${h}u], source + ${i * slices * KEY_LANES}u);
    ${each(octs, (e) => `${o(h, e)} = plus(${o(h, e)}, p${h}, v${e});`)}`,
    )}
  }`;
  // Brings the states of all subgroups under one m, adds up l over lanes and o over slices and subgroups, and emits.
  const finish = (h: number) => `{
    let most = common_m((*m)[${h}u], ${h}u, lid);
    let alpha = softmax_p4((*m)[${h}u], most);
    ${each(octs, (e) => `finish_oct(work, ${h}u, ${e}u, most, scaled(${o(h, e)}, alpha), lid);`)}
  }`;
  return `
fn raise(m: ptr<function, Scores>, l: ptr<function, Scores>, o: ptr<function, Output>, s: Scores) {
  ${each(quads, raise)}
}
fn add_values(o: ptr<function, Output>, s: Scores, values: ptr<function, Values>, source: u32) {
  ${each(SUBGROUP / KEY_LANES / slices, add)}
}
fn finish(work: Work, m: ptr<function, Scores>, l: ptr<function, Scores>, o: ptr<function, Output>, lid: u32) {
  ${each(quads, (h) => `leave_state((*m)[${h}u], (*l)[${h}u], ${h}u, lid);`)}
  workgroupBarrier();
  ${each(quads, finish)}
}`;
}

/** The smallest power of two from `least` on. */
function powerFrom(least: number): number {
  return 2 ** Math.ceil(Math.log2(least));
}
