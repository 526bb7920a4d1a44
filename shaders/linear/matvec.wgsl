// y[row] = rstd * sum_k weights[row, k] * x[k] + bias[row], x the last token of the pass (decode has one), times the
// norm weight when NORM. rstd = 1 / sqrt(mean(x^2) + EPS) applies at the end, and the sum of squares rides along with
// the blocks, so that the norm needs no pass of its own (RMSNorm, Zhang and Sennrich 2019).
//
// LANES threads share GROUP_ROWS rows, a lane every LANES-th block of 32 columns. A lane has SLOTS blocks in flight, by
// name, since compilers do not move loads out of loops: DEPTH blocks of each of its rows. The blocks of the next trip
// are on their way while those of this trip are multiplied, and the first ones while x is prepared. TURNS such groups
// of rows make a workgroup. The bound weights are rows ROW0 .. ROW0 + PART_ROWS of ROWS, ROW0 and PART_ROWS even where
// another part follows.
// Constants: ROWS, ROW0, PART_ROWS, COLS, NORM, BIAS, EPS, WORKGROUP, LANES, GROUP_ROWS, SLOTS, TURNS, GRID_X.
// Libraries: weights/*, x_*, params, row_sums_*. The epilogue, or emit_pairs in front of
// one that takes pairs of rows, defines fetch_ahead(first_row, lid), and finish(first_row, lid), which reads y_pair.
const BLOCKS = COLS / 32u;
const DEPTH = SLOTS / GROUP_ROWS;
const STRIDE = LANES * DEPTH;                              // blocks of a trip
const TRIPS = (BLOCKS + STRIDE - 1u) / STRIDE;
const RAGGED = BLOCKS % STRIDE != 0u;
const ROWS_PER_TURN = WORKGROUP / LANES * GROUP_ROWS;
const ROWS_PER_WORKGROUP = ROWS_PER_TURN * TURNS;
const SQUARES = ROWS_PER_WORKGROUP;                        // one more sum, that of squares

struct Slots { a: Packed, b: Packed, c: Packed, d: Packed }

// Rows and blocks past the end read the last; their sums are never emitted, and x is zero there.
fn load_slot(slot: u32, row: u32, block: u32) -> Packed {
  let slot_row = min(row + slot / DEPTH, PART_ROWS - 1u);
  let slot_block = block + slot % DEPTH * LANES;
  return load_packed(slot_row * BLOCKS + select(slot_block, min(slot_block, BLOCKS - 1u), RAGGED));
}

fn load_slots(row: u32, block: u32) -> Slots {
  let a = load_slot(0u, row, block);
  if (SLOTS == 1u) { return Slots(a, a, a, a); }
  let b = load_slot(1u, row, block);
  if (SLOTS == 2u) { return Slots(a, b, a, b); }
  return Slots(a, b, load_slot(2u, row, block), load_slot(3u, row, block));
}

fn slot_x(block: u32) -> X {
  if (RAGGED && block >= BLOCKS) { return X(); }
  return load_x(block);
}

// Rows `row`, even, and `row` + 1 of the workgroup; the second is past the end when the last row is even.
fn y_pair(first_row: u32, row: u32) -> vec2<f32> {
  var rstd = 1.0;
  if (NORM) { rstd = inverseSqrt(row_sum(SQUARES) / f32(COLS) + EPS); }
  return rstd * vec2(row_sum(row), row_sum(row + 1u)) + bias_pair(ROW0 + first_row + row);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let lane = lid % LANES;
  let my_row = lid / LANES * GROUP_ROWS;
  let first_row = (group.y * GRID_X + group.x) * ROWS_PER_WORKGROUP;
  var next = load_slots(first_row + my_row, lane);
  fetch_ahead(first_row, lid);
  prepare_x(lid);
  var sums = vec4(0.0);    // one a slot
  var square = 0.0;
  for (var i = 0u; i < TURNS * TRIPS; i++) {
    let w = next;
    let block = lane + i % TRIPS * STRIDE;
    if (i + 1u < TURNS * TRIPS) {
      next = load_slots(first_row + (i + 1u) / TRIPS * ROWS_PER_TURN + my_row, lane + (i + 1u) % TRIPS * STRIDE);
    }
    let xa = slot_x(block);
    var xb = xa;           // slots of the same block share it
    var xc = xa;
    var xd = xa;
    if (DEPTH > 1u) {
      xb = slot_x(block + LANES);
      xd = xb;
    }
    if (DEPTH > 2u) {
      xc = slot_x(block + 2u * LANES);
      xd = slot_x(block + 3u * LANES);
    }
    sums.x += product(w.a, xa);
    if (SLOTS > 1u) { sums.y += product(w.b, xb); }
    if (SLOTS > 2u) {
      sums.z += product(w.c, xc);
      sums.w += product(w.d, xd);
    }
    if (NORM && i < TRIPS) {
      square += xa.square;
      if (DEPTH > 1u) { square += xb.square; }
      if (DEPTH > 2u) { square += xc.square + xd.square; }
    }
    if (i % TRIPS == TRIPS - 1u) {
      put_rows(i / TRIPS * ROWS_PER_TURN + my_row, lane, sums);
      sums = vec4(0.0);
    }
  }
  if (NORM) { put_square(lid, square); }
  workgroupBarrier();
  finish(first_row, lid);
}

// The slots of a row together are the row.
fn put_rows(row: u32, lane: u32, sums: vec4<f32>) {
  if (GROUP_ROWS == 1u) {
    put_sum(row, lane, sums.x + sums.y + sums.z + sums.w);
  } else if (DEPTH == 2u) {
    put_sum(row, lane, sums.x + sums.y);
    put_sum(row + 1u, lane, sums.z + sums.w);
  } else {
    put_sum(row, lane, sums.x);
    put_sum(row + 1u, lane, sums.y);
    if (SLOTS > 2u) {
      put_sum(row + 2u, lane, sums.z);
      put_sum(row + 3u, lane, sums.w);
    }
  }
}
