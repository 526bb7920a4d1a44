// The scores of keys as floats or halves. A cell is an oct. Library of lanes.
alias KvCell = KvOct;
const CELL_DIMS = 8u;
const Q_CELLS = KEY_LANES * CELLS_EACH; // of a key; q of those past HEAD_DIM is 0

// (HEAD_QUADS, CELLS_EACH, 8, KEY_LANES): a dimension of four heads; lanes that share a key read neighbors.
var<workgroup> q_lanes: array<Heads, HEAD_QUADS * Q_CELLS * CELL_DIMS>;

fn load_q(work: Work, lid: u32) {
  for (var i = lid; i < HEAD_QUADS * Q_CELLS * 2; i += WORKGROUP) {
    let quad = i % (2 * Q_CELLS);
    let x = q_quads(work, i / (2 * Q_CELLS), quad);
    let cell = i / (2 * Q_CELLS) * Q_CELLS + quad / 2 / KEY_LANES * KEY_LANES;
    let first = cell * CELL_DIMS + quad % 2 * 4 * KEY_LANES + quad / 2 % KEY_LANES;
    for (var d = 0u; d < 4; d++) { q_lanes[first + d * KEY_LANES] = x[d]; }
  }
  workgroupBarrier();
}

fn scores_of(keys: Keys, lane: u32) -> Scores {
  var s: Scores;
  for (var c = 0u; c < CELLS_EACH; c++) {
    let k = kv_oct(keys.cells[c]);
    for (var h = 0u; h < HEAD_QUADS; h++) {
      let i = (h * CELLS_EACH + c) * CELL_DIMS * KEY_LANES + lane % KEY_LANES;
      s[h] += q_lanes[i] * k.a.x + q_lanes[i + KEY_LANES] * k.a.y + q_lanes[i + 2 * KEY_LANES] * k.a.z
        + q_lanes[i + 3 * KEY_LANES] * k.a.w + q_lanes[i + 4 * KEY_LANES] * k.b.x + q_lanes[i + 5 * KEY_LANES] * k.b.y
        + q_lanes[i + 6 * KEY_LANES] * k.b.z + q_lanes[i + 7 * KEY_LANES] * k.b.w;
    }
  }
  for (var h = 0u; h < HEAD_QUADS; h++) { s[h] = over_key(s[h]); }
  return s;
}
