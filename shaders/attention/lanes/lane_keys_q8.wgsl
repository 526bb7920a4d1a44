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
var<workgroup> q_largest: array<atomic<u32>, 4 * HEAD_QUADS>; // bits of max|x| of a head
var<private> q_scales: Scores;

fn largest_bits(x: vec4<f32>) -> u32 {
  let bits = bitcast<vec4<u32>>(x) & vec4(0x7fffffffu);
  return max(max(bits.x, bits.y), max(bits.z, bits.w));
}

fn largest_of(h: u32) -> vec4<u32> {
  return vec4(
    atomicLoad(&q_largest[4 * h]), atomicLoad(&q_largest[4 * h + 1]),
    atomicLoad(&q_largest[4 * h + 2]), atomicLoad(&q_largest[4 * h + 3]),
  );
}

fn load_q(work: Work, lid: u32) {
  for (var i = lid; i < 4 * HEAD_QUADS; i += WORKGROUP) { atomicStore(&q_largest[i], 0u); }
  workgroupBarrier();
  for (var i = lid; i < HEAD_QUADS * WORDS; i += WORKGROUP) {
    let x = transpose(q_quads(work, i / WORDS, i % WORDS));
    for (var j = 0u; j < 4; j++) { atomicMax(&q_largest[i / WORDS * 4 + j], largest_bits(x[j])); }
  }
  workgroupBarrier();
  for (var i = lid; i < HEAD_QUADS * WORDS; i += WORKGROUP) {
    let quad = i % WORDS;
    let most = largest_of(i / WORDS);
    let is_zero = (most < vec4(bitcast<u32>(LEAST_Q))) | (most >= vec4(Q_NOT_FINITE));
    let inverse = select(127.0 / bitcast<Heads>(most), Heads(0.0), is_zero);
    let x = transpose(q_quads(work, i / WORDS, quad));
    let cell = i / WORDS * KEY_LANES * CELLS_EACH + quad / 4 / KEY_LANES * KEY_LANES;
    q_words[cell * 4 + quad % 4 * KEY_LANES + quad / 4 % KEY_LANES] = vec4(
      pack4xI8(vec4<i32>(round(x[0] * inverse.x))), pack4xI8(vec4<i32>(round(x[1] * inverse.y))),
      pack4xI8(vec4<i32>(round(x[2] * inverse.z))), pack4xI8(vec4<i32>(round(x[3] * inverse.w))),
    );
  }
  for (var h = 0u; h < HEAD_QUADS; h++) {
    let most = largest_of(h);
    let scales = select(bitcast<vec4<u32>>(bitcast<Heads>(most) / 127.0), vec4(0u), most < vec4(bitcast<u32>(LEAST_Q)));
    q_scales[h] = bitcast<Heads>(select(scales, vec4(0x7fc00000u), most >= vec4(Q_NOT_FINITE)));
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
  // A sum is less than 2^24 in magnitude, and exact as a float.
  for (var h = 0u; h < HEAD_QUADS; h++) { s[h] = over_key(Heads(sums[h])) * (q_scales[h] * keys.key_scale); }
  return s;
}
