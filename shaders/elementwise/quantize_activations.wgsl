// xq[t, :] = n(x[t, :]) in signed bytes: q = round(n / d), d = max|n| / 127 for each block of 32; n is RMSNorm when
// NORM. One workgroup a token. Eight threads share a block, a quad each, and find its largest magnitude through
// workgroup memory. The 1 / rms of a norm is one factor for the whole token: it waits for the last block and goes into
// d alone.
// A block whose largest magnitude is below ZERO_BELOW is zero: 1 / d need not exist there. Magnitudes are compared by
// their bits, so that a NaN or an infinity makes d one, too (linear/x/quantize_block.wgsl).
// Constants: COLS, NORM, BLOCKS_FIRST, EPS, ZERO_BELOW, WORKGROUP: a power of two, 8 at least.
// Libraries: workgroup_sum.
const QUADS = COLS / 4u;
const BLOCKS = COLS / 32u;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;       // (n_tokens, QUADS)
// the norm weight comes first when NORM (linear/params.wgsl)
@group(0) @binding(1) var<storage, read> params: array<vec4<f32>>;
// (n_tokens, BLOCKS, 8) words of four bytes in the order of k, then (n_tokens, BLOCKS) bits of d in f32; BLOCKS come
// first when BLOCKS_FIRST: neighboring threads of linear/matmul_q8.wgsl read the same block of neighboring tokens. In
// words, since neighbors write to one vec4 of what it reads.
@group(0) @binding(2) var<storage, read_write> xq: array<u32>;

var<workgroup> largest: array<u32, WORKGROUP>;

fn block_largest(lid: u32) -> u32 {
  let first = lid / 8u * 8u;
  var m = 0u;
  for (var i = 0u; i < 8u; i++) { m = max(m, largest[first + i]); }
  return m;
}

fn block_at(token: u32, block: u32) -> u32 {
  if (BLOCKS_FIRST) { return block * step.n_tokens + token; }
  return token * BLOCKS + block;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let token = group.x;
  var square = 0.0;
  for (var first = 0u; first < QUADS; first += WORKGROUP) {
    let quad = first + lid;
    var n = vec4(0.0);
    if (quad < QUADS) {
      n = x[token * QUADS + quad];
      square += dot(n, n);
      if (NORM) { n *= params[quad]; }
    }
    let magnitude = bitcast<vec4<u32>>(n) & vec4(0x7fffffffu);
    largest[lid] = max(max(magnitude.x, magnitude.y), max(magnitude.z, magnitude.w));
    workgroupBarrier();
    let m = block_largest(lid);
    let zero = m < bitcast<u32>(ZERO_BELOW);
    let d = select(bitcast<f32>(m) / 127.0, 0.0, zero);
    if (quad < QUADS) {
      let block = block_at(token, quad / 8u);
      xq[block * 8u + quad % 8u] = select(pack4xI8(vec4<i32>(round(n / d))), 0u, zero);
      if (lid % 8u == 0u) { xq[step.n_tokens * QUADS + block] = bitcast<u32>(d); }
    }
    workgroupBarrier();
  }
  if (NORM) {
    let rstd = inverseSqrt(workgroup_sum(square, lid) / f32(COLS) + EPS);
    if (lid % 8u != 0u) { return; }
    for (var quad = lid; quad < QUADS; quad += WORKGROUP) {   // the blocks whose d this very thread wrote
      let at = step.n_tokens * QUADS + block_at(token, quad / 8u);
      xq[at] = bitcast<u32>(rstd * bitcast<f32>(xq[at]));
    }
  }
}
