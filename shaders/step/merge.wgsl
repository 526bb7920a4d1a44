// The splits of attention, added up: each workgroup takes OWN_A blocks of 16 values of each token, and publishes them
// in signed bytes. Constants: SPLITS, OWN_A, Q_SIZE. Libraries: online_softmax. src/kernels/step writes take_parts.
const SPLIT_WORDS = 18u;    // 16 values of o, m and l
const TOKEN_WORDS = OWN_A * SPLITS * SPLIT_WORDS;
const MERGED_WORDS = ROWS * TOKEN_WORDS;

var<workgroup> merged: array<f32, MERGED_WORDS>;

// The word of value i of take_parts.
fn part_word(i: u32) -> u32 {
  let token = min(i / TOKEN_WORDS, n_rows() - 1u);
  let block = min(wg * OWN_A + i % TOKEN_WORDS / (SPLITS * SPLIT_WORDS), Q_SIZE / 16u - 1u);
  let split = i / SPLIT_WORDS % SPLITS;
  let e = i % SPLIT_WORDS;
  let head = block * 16u / DIM;
  let part = PARTS_AT + (token * TOKEN_GROUPS + head / GROUP * SPLITS + split) * PART_WORDS;
  return part + select(GROUP * DIM + 2u * (head % GROUP) + e - 16u, head % GROUP * DIM + block * 16u % DIM + e, e < 16u);
}

fn merge(tag: u32) {
  take_parts(tag);
  workgroupBarrier();
  for (var i = lid; i < ROWS * OWN_A * 16u; i += THREADS) {
    let first_value = i / 16u % (ROWS * OWN_A) * SPLITS * SPLIT_WORDS;
    var m = M_START;
    for (var s = 0u; s < SPLITS; s++) { m = max(m, merged[first_value + s * SPLIT_WORDS + 16u]); }
    var o = 0.0;
    var l = 0.0;
    for (var s = 0u; s < SPLITS; s++) {
      let at = first_value + s * SPLIT_WORDS;
      let alpha = softmax_p(merged[at + 16u], m);
      o += alpha * merged[at + i % 16u];
      l += alpha * merged[at + 17u];
    }
    y_own[y_at(i / (OWN_A * 16u), i % (OWN_A * 16u))] = without_nan(o / l);
  }
  publish_blocks(A_AT, wg * OWN_A, OWN_A * 16u, Q_SIZE / 16u, false, tag);
}
