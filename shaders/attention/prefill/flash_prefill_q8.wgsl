// flash_prefill.wgsl in integers: q k^T and p v are sums of products of signed bytes, of the tiles that
// quantize_kv.wgsl left. q has a scale for each row and block of 32 columns. p has one for each row and tile: the
// largest p of the tile is 255, and bytes hold p - 128; sums begin with what that takes away. (SageAttention, Zhang et
// al. 2024, arXiv:2410.02367.)
//
// One workgroup: BLOCK_M rows (y) of one KV head (x), as prompt_blocks.wgsl says. A thread (tx, ty) of 8 * TY holds the
// four rows ty + TY r, in vec4: of them it has the scores of the keys 8 tx to 8 tx + 7, and the pairs of columns
// tx + 8 c. While a tile of keys is multiplied, its values are on their way from memory, and the next tile's keys while
// values are. Both lie in the same workgroup memory in turns: browsers on NVIDIA give all workgroups of a
// multiprocessor 48 KiB, and two workgroups of at most 24 KiB hide each other's waits.
// Constants: N_HEADS, GQA_GROUP, HEAD_DIM, Q_SCALE, ZERO_BELOW; BLOCK_M; PAIRS_HELD: pairs of columns whose sums a
// thread holds at once, all of its pairs or half of them. Libraries: byte_tiles, prompt_blocks.
@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;         // (n_tokens, N_HEADS, HEAD_DIM / 4)
@group(0) @binding(1) var<storage, read> k_bytes: array<vec4<u32>>;   // these four as quantize_kv.wgsl says
@group(0) @binding(2) var<storage, read> k_scales: array<f32>;
@group(0) @binding(3) var<storage, read> v_bytes: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> v_scales: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> out: array<vec2<f32>>; // (n_tokens, N_HEADS, PAIRS)

const TX = TILE / KEYS;
const TY = BLOCK_M / 4u;
const THREADS = TX * TY;
const KEYS = 8u;                 // of a thread
const PAIRS = HEAD_DIM / 2u;
const HALVES = PAIRS / TX / PAIRS_HELD;
const TILE_WORDS = TILE * SLABS; // in vec4: 64 keys, or their values
const OCTETS = TILE / 8u;        // of keys
const COLUMNS = PAIRS / TX;      // pairs of columns of a thread
// What a thread brings from memory at once.
const WORDS_EACH = TILE_WORDS / THREADS;
const KEY_SCALES_EACH = (TILE * BLOCKS + THREADS - 1u) / THREADS;
const VALUE_SCALES_EACH = (PAIRS + THREADS - 1u) / THREADS;
// A number from 0 to 255 plus MAGIC has that number, rounded, in the low bits of its mantissa; MAGIC_BITS are the
// others.
const MAGIC = 8388608.0;
const MAGIC_BITS = 0x4b000000u;
// A sum of less than 2^22 in magnitude plus SUM_BITS has the bits of the float SUM_ZERO plus that sum.
const SUM_BITS = 0x4b400000;
const SUM_ZERO = 12582912.0;
// Octets of keys whose products with values are written out.
const OCTETS_EACH = 4u;

var<workgroup> q_tile: array<array<vec4<u32>, TY>, SLABS * 4u>; // 16 columns of rows that lie TY apart
// Keys (SLABS, KEYS, TX), then values: the same words, (OCTETS, COLUMNS, TX). The loops that multiply have indices that
// a compiler sees to be in bounds.
var<workgroup> tile_words: array<array<array<vec4<u32>, TX>, KEYS>, SLABS>;
// Scales of values (COLUMNS, TX), in arrays: a write of a component may touch a whole vector, which other threads
// write. The same words are floats of keys (BLOCKS, KEYS, TX), and at first of rows.
var<workgroup> tile_d: array<array<array<f32, 4>, TX>, COLUMNS>;
var<workgroup> p_tile: array<array<vec2<u32>, TY>, TX * 4u>;    // bytes of the keys of a thread, for each row
var<workgroup> largest: array<array<vec4<f32>, TY>, TX>;        // scores of the keys of a thread; at the end l

alias Scores = array<vec4<f32>, KEYS>;
alias Output = array<vec4<f32>, 2u * PAIRS_HELD>; // a column of four rows
alias Sums = array<vec4<i32>, 2u * PAIRS_HELD>;
alias RowScales = array<vec4<f32>, BLOCKS>;

// A tile on its way to workgroup memory.
struct Keys { bytes: array<vec4<u32>, WORDS_EACH>, d: array<f32, KEY_SCALES_EACH> }
struct Values { bytes: array<vec4<u32>, WORDS_EACH>, d: array<vec4<f32>, VALUE_SCALES_EACH> }

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let place = place_of(lid);
  let tx = place.x;
  let ty = place.y;
  let block = block_of(wid.y);
  let tiles = tile_of(wid.x, 0u);
  let first_tile = first_seen(block.first_own) / TILE;

  stage_queries(block, wid.x, lid);
  var keys = load_keys(tiles + first_tile, lid);
  workgroupBarrier();
  let scales = row_scales(ty);
  workgroupBarrier();
  var m = vec4(M_START);
  var l: vec4<f32>; // of this thread's keys
  var near: Output; // columns of the first half of this thread's pairs
  var far: Output;
  for (var tile = first_tile; tile * TILE < block.n_keys; tile++) {
    let start = tile * TILE;
    workgroupBarrier();
    stage_keys(keys, lid);
    workgroupBarrier();
    let values = load_values(tiles + tile, lid);
    var s = scores(tx, ty, scales);
    for (var i = 0u; i < KEYS; i++) { s[i] = softcap4(s[i]); }
    if (start + TILE > block.all_see || start < first_seen(block.last_own)) {
      mask(&s, start + KEYS * tx, block.first_row + ty);
    }
    largest[tx][ty] = max(max(max(s[0], s[1]), max(s[2], s[3])), max(max(s[4], s[5]), max(s[6], s[7])));
    workgroupBarrier();

    var m_tile = largest[0][ty];
    for (var x = 1u; x < TX; x++) { m_tile = max(m_tile, largest[x][ty]); }
    let m_new = max(m, m_tile);
    let alpha = softmax_p4(m, m_new);
    let factor = softmax_p4(m_tile, m_new);
    let grows = any(m != m_new);
    m = m_new;
    l = l * alpha + stage_p(&s, tx, ty, m_tile) * factor;
    stage_values(values, lid);
    workgroupBarrier();
    keys = load_keys(tiles + min(tile + 1u, HEAD_TILES - 1u), lid);
    if (grows) {
      rescale(&near, alpha);
      if (HALVES == 2u) { rescale(&far, alpha); }
    }
    add_values(&near, 0u, tx, ty, factor);
    if (HALVES == 2u) { add_values(&far, PAIRS_HELD, tx, ty, factor); }
  }

  workgroupBarrier();
  largest[tx][ty] = l;
  workgroupBarrier();
  var sum = largest[0][ty];
  for (var x = 1u; x < TX; x++) { sum += largest[x][ty]; }
  for (var r = 0u; r < 4u; r++) {
    let row = block.first_row + ty + TY * r;
    if (row < block.n_rows) {
      let to = row_of(row, wid.x) * PAIRS + tx;
      for (var n = 0u; n < PAIRS_HELD; n++) {
        out[to + n * TX] = vec2(near[2u * n][r], near[2u * n + 1u][r]) / sum[r];
        if (HALVES == 2u) { out[to + (PAIRS_HELD + n) * TX] = vec2(far[2u * n][r], far[2u * n + 1u][r]) / sum[r]; }
      }
    }
  }
}

// Quantizes the rows of the block, those past the end as zeros. A scale also carries Q_SCALE.
fn stage_queries(rows: RowBlock, kv_head: u32, lid: u32) {
  for (var i = lid; i < BLOCK_M * BLOCKS; i += THREADS) {
    let r = i / BLOCKS;
    let block = i % BLOCKS;
    var x: array<vec4<f32>, 8>;
    if (rows.first_row + r < rows.n_rows) {
      let at = row_of(rows.first_row + r, kv_head) * (HEAD_DIM / 4u) + block * 8u;
      for (var j = 0u; j < 8u; j++) { x[j] = q[at + j]; }
    }
    let bytes = block_bytes(x);
    put_scale(block * BLOCK_M + r, bytes.d * Q_SCALE);
    q_tile[block * 8u + r / TY][r % TY] = bytes.low;
    q_tile[block * 8u + 4u + r / TY][r % TY] = bytes.high;
  }
}

fn row_scales(ty: u32) -> RowScales {
  var scales: RowScales;
  for (var block = 0u; block < BLOCKS; block++) {
    let at = block * BLOCK_M + ty;
    scales[block] = vec4(scale_at(at), scale_at(at + TY), scale_at(at + 2u * TY), scale_at(at + 3u * TY));
  }
  return scales;
}

fn load_keys(tile: u32, lid: u32) -> Keys {
  var keys: Keys;
  for (var n = 0u; n < WORDS_EACH; n++) { keys.bytes[n] = k_bytes[tile * TILE_WORDS + lid + n * THREADS]; }
  for (var n = 0u; n < KEY_SCALES_EACH; n++) {
    let i = lid + n * THREADS;
    if (i < TILE * BLOCKS) { keys.d[n] = k_scales[tile * TILE * BLOCKS + i]; }
  }
  return keys;
}

fn stage_keys(keys: Keys, lid: u32) {
  for (var n = 0u; n < WORDS_EACH; n++) { put_word(lid + n * THREADS, keys.bytes[n]); }
  for (var n = 0u; n < KEY_SCALES_EACH; n++) {
    let i = lid + n * THREADS;
    if (i < TILE * BLOCKS) { put_scale(i, keys.d[n]); }
  }
}

fn load_values(tile: u32, lid: u32) -> Values {
  var values: Values;
  for (var n = 0u; n < WORDS_EACH; n++) { values.bytes[n] = v_bytes[tile * TILE_WORDS + lid + n * THREADS]; }
  for (var n = 0u; n < VALUE_SCALES_EACH; n++) {
    let i = lid + n * THREADS;
    if (i < PAIRS) { values.d[n] = v_scales[tile * PAIRS + i]; }
  }
  return values;
}

fn stage_values(values: Values, lid: u32) {
  for (var n = 0u; n < WORDS_EACH; n++) { put_word(lid + n * THREADS, values.bytes[n]); }
  for (var n = 0u; n < VALUE_SCALES_EACH; n++) {
    let i = lid + n * THREADS;
    if (i < PAIRS) {
      let d = values.d[n];
      tile_d[i / TX][i % TX] = array(d.x, d.y, d.z, d.w);
    }
  }
}

fn put_word(i: u32, word: vec4<u32>) { tile_words[i / TX / KEYS][i / TX % KEYS][i % TX] = word; }
// A scale of BLOCKS * TILE of keys, or of rows.
fn put_scale(i: u32, d: f32) { tile_d[i / 4u / TX][i / 4u % TX][i % 4u] = d; }
fn scale_at(i: u32) -> f32 { return tile_d[i / 4u / TX][i / 4u % TX][i % 4u]; }

fn dot8(a: vec2<u32>, b: vec2<u32>) -> i32 { return dot4I8Packed(a.x, b.x) + dot4I8Packed(a.y, b.y); }
fn dot16(a: vec4<u32>, b: vec4<u32>) -> i32 { return dot8(a.xy, b.xy) + dot8(a.zw, b.zw); }
fn plus_dot8(sum: i32, a: vec2<u32>, b: vec2<u32>) -> i32 {
  return sum + dot4I8Packed(a.x, b.x) + dot4I8Packed(a.y, b.y);
}
fn float_of(sums: vec4<i32>) -> vec4<f32> { return bitcast<vec4<f32>>(sums) - SUM_ZERO; }

// q . k of the thread's rows and keys. The scales of the next block of columns move down to the first.
fn scores(tx: u32, ty: u32, given: RowScales) -> Scores {
  var s = Scores();
  var scales = given;
  for (var block = 0u; block < BLOCKS; block++) {
    var sums: array<vec4<i32>, KEYS>;
    for (var i = 0u; i < KEYS; i++) { sums[i] = vec4(SUM_BITS); }
    for (var half = 0u; half < 2u; half++) {
      let slab = block * 2u + half;
      let q0 = q_tile[slab * 4u][ty];
      let q1 = q_tile[slab * 4u + 1u][ty];
      let q2 = q_tile[slab * 4u + 2u][ty];
      let q3 = q_tile[slab * 4u + 3u][ty];
      for (var i = 0u; i < KEYS; i++) {
        let k = tile_words[slab][i][tx];
        sums[i] += vec4(dot16(q0, k), dot16(q1, k), dot16(q2, k), dot16(q3, k));
      }
    }
    for (var i = 0u; i < KEYS; i++) {
      let d = tile_d[block * (KEYS / 4u) + i / 4u][i % 4u * (TX / 4u) + tx / 4u][tx % 4u];
      s[i] += float_of(sums[i]) * (scales[0] * d);
    }
    for (var i = 1u; i < BLOCKS; i++) { scales[i - 1u] = scales[i]; }
  }
  return s;
}

// Takes the scores of keys that a row does not see out of the softmax.
fn mask(s: ptr<function, Scores>, first_key: u32, first: u32) {
  let own = step.position + (first + TY * vec4(0u, 1u, 2u, 3u)) / GQA_GROUP + 1;
  let sees = end_seen4(own);
  let begin = first_seen4(own);
  for (var i = 0u; i < KEYS; i++) {
    let key = vec4(first_key + i);
    (*s)[i] = select(vec4(MASKED), (*s)[i], (key < sees) & (key >= begin));
  }
}

// Leaves p of the scores in bytes under the largest score of the tile, and returns their sum.
fn stage_p(s: ptr<function, Scores>, tx: u32, ty: u32, m_tile: vec4<f32>) -> vec4<f32> {
  var sum: vec4<f32>;
  var words: array<vec4<u32>, 2>; // of keys 0 to 3 and 4 to 7, for each row
  for (var four = 0u; four < 2u; four++) {
    for (var i = 4u; i > 0u; i--) {
      let p = 255.0 * softmax_p4((*s)[4u * four + i - 1u], m_tile) + MAGIC;
      sum += p - MAGIC;
      words[four] = (words[four] << vec4(8u)) + bitcast<vec4<u32>>(p);
    }
    words[four] = (words[four] - MAGIC_BITS) ^ vec4(0x80808080u);
  }
  for (var r = 0u; r < 4u; r++) { p_tile[tx * 4u + r][ty] = vec2(words[0][r], words[1][r]); }
  return sum;
}

fn rescale(o: ptr<function, Output>, alpha: vec4<f32>) {
  for (var c = 0u; c < 2u * PAIRS_HELD; c++) { (*o)[c] *= alpha; }
}

// o += p v, both in bytes, times the scales of p and v, for the pairs of columns from `first` on.
fn add_values(o: ptr<function, Output>, first: u32, tx: u32, ty: u32, factor: vec4<f32>) {
  var sums: Sums;
  for (var n = 0u; n < PAIRS_HELD; n++) {
    sums[2u * n] = vec4(SUM_BITS + bitcast<i32>(tile_d[first + n][tx][2]));
    sums[2u * n + 1u] = vec4(SUM_BITS + bitcast<i32>(tile_d[first + n][tx][3]));
  }
  for (var some = 0u; some < OCTETS / OCTETS_EACH; some++) {
    for (var i = 0u; i < OCTETS_EACH; i++) {
      let octet = some * OCTETS_EACH + i;
      let p0 = p_tile[octet * 4u][ty];
      let p1 = p_tile[octet * 4u + 1u][ty];
      let p2 = p_tile[octet * 4u + 2u][ty];
      let p3 = p_tile[octet * 4u + 3u][ty];
      for (var n = 0u; n < PAIRS_HELD; n++) {
        let row = octet * COLUMNS + (first + n) % COLUMNS;
        let v = tile_words[row / KEYS][row % KEYS][tx];
        let a = sums[2u * n];
        let b = sums[2u * n + 1u];
        sums[2u * n] = vec4(
          plus_dot8(a.x, p0, v.xy), plus_dot8(a.y, p1, v.xy), plus_dot8(a.z, p2, v.xy), plus_dot8(a.w, p3, v.xy),
        );
        sums[2u * n + 1u] = vec4(
          plus_dot8(b.x, p0, v.zw), plus_dot8(b.y, p1, v.zw), plus_dot8(b.z, p2, v.zw), plus_dot8(b.w, p3, v.zw),
        );
      }
    }
  }
  for (var n = 0u; n < PAIRS_HELD; n++) {
    (*o)[2u * n] += float_of(sums[2u * n]) * (factor * tile_d[first + n][tx][0]);
    (*o)[2u * n + 1u] += float_of(sums[2u * n + 1u]) * (factor * tile_d[first + n][tx][1]);
  }
}
