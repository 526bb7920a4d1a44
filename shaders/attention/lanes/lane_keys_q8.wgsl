// The scores of keys in signed bytes, in integers: q is quantized too, each head with a scale of its own (q = round(x /
// d), d = max|x| / 127). A NaN or an infinity in a head makes its d a NaN, and with it all its scores. Cells are 16
// bytes. Library of lanes.
alias KvCell = vec4<u32>;
const CELL_DIMS = 16u;
const WORDS = 4 * KEY_LANES * CELLS_EACH; // of four bytes; those past HEAD_DIM are 0

const LEAST_Q = 1e-30f;                     // a head of smaller numbers is zero
const Q_NOT_FINITE = 0x7f800000u;

// (HEAD_QUADS, CELLS_EACH, 4, KEY_LANES): a word of each of four heads; lanes that share a key read neighbors.
var<workgroup> q_words: array<vec4<u32>, HEAD_QUADS * WORDS>;
var<private> q_scales: Scores;

fn load_q(work: Work, lid: u32) {
  var inverses: Scores;
  for (var h = 0u; h < HEAD_QUADS; h++) {
    var most = vec4(0u);
    for (var d = lid % SUBGROUP; d < HEAD_DIM; d += SUBGROUP) {
      most = max(most, bitcast<vec4<u32>>(q_at(work, h, d)) & vec4(0x7fffffffu));
    }
    most = subgroupMax(most);
    let is_zero = most < vec4(bitcast<u32>(LEAST_Q));
    let bad = most >= vec4(Q_NOT_FINITE);
    inverses[h] = select(127.0 / bitcast<Heads>(most), Heads(0.0), is_zero | bad);
    let scales = select(bitcast<vec4<u32>>(bitcast<Heads>(most) / 127.0), vec4(0u), is_zero);
    q_scales[h] = bitcast<Heads>(select(scales, vec4(0x7fc00000u), bad));
  }
  for (var i = lid; i < HEAD_QUADS * WORDS; i += WORKGROUP) {
    let h = i / WORDS;
    let cell = i / (4 * KEY_LANES) % CELLS_EACH * KEY_LANES + i % KEY_LANES;
    let d = cell * CELL_DIMS + i / KEY_LANES % 4 * 4;
    let by_dims = transpose(mat4x4(q_at(work, h, d), q_at(work, h, d + 1), q_at(work, h, d + 2), q_at(work, h, d + 3)));
    q_words[i] = vec4(
      pack4xI8(vec4<i32>(round(by_dims[0] * inverses[h].x))), pack4xI8(vec4<i32>(round(by_dims[1] * inverses[h].y))),
      pack4xI8(vec4<i32>(round(by_dims[2] * inverses[h].z))), pack4xI8(vec4<i32>(round(by_dims[3] * inverses[h].w))),
    );
  }
  workgroupBarrier();
}

fn scores_of(keys: Keys, lane: u32) -> Scores {
  var sums = array<vec4<i32>, HEAD_QUADS>();
  for (var c = 0u; c < CELLS_EACH; c++) {
    let k = keys.cells[c];
    for (var h = 0u; h < HEAD_QUADS; h++) {
      for (var w = 0u; w < 4; w++) {
        let word = q_words[h * WORDS + (4 * c + w) * KEY_LANES + lane % KEY_LANES];
        sums[h] += vec4(
          dot4I8Packed(k[w], word.x), dot4I8Packed(k[w], word.y), dot4I8Packed(k[w], word.z), dot4I8Packed(k[w], word.w),
        );
      }
    }
  }
  var s: Scores;
  for (var h = 0u; h < HEAD_QUADS; h++) {
    for (var apart = 1u; apart < KEY_LANES; apart *= 2) { sums[h] += subgroupShuffleXor(sums[h], apart); }
    s[h] = Heads(sums[h]) * (q_scales[h] * keys.key_scale);
  }
  return s;
}
