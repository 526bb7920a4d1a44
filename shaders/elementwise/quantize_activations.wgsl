// xq[t, :] = n(x[t, :]) in signed bytes: q = round(n / d), d = max|n| / 127 for each block of 32; n is RMSNorm when
// NORM. One workgroup a token. Eight threads share a block, a quad each, and find its largest magnitude through
// workgroup memory. A thread asks for several quads before it needs the first. The 1 / rms of a norm is one factor for
// the whole token: it waits for the last block and goes into d alone.
// A block whose largest magnitude is below ZERO_BELOW is zero: 1 / d need not exist there. Magnitudes are compared by
// their bits, so that a NaN or an infinity makes d one, too (linear/x/quantize_block.wgsl).
// Constants: COLS, NORM, BLOCKS_FIRST, EPS, ZERO_BELOW, WORKGROUP: a power of two, 8 at least.
// Libraries: workgroup_sum.
const QUADS = COLS / 4u;
const BLOCKS = COLS / 32u;
const EACH = (QUADS + WORKGROUP - 1u) / WORKGROUP;   // quads of a thread
const AT_ONCE = min(EACH, 4u);
const TURNS = (EACH + AT_ONCE - 1u) / AT_ONCE;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;       // (n_tokens, QUADS)
// the norm weight comes first when NORM (linear/params.wgsl)
@group(0) @binding(1) var<storage, read> params: array<vec4<f32>>;
// (n_tokens, BLOCKS, 8) words of four bytes in the order of k, then (n_tokens, BLOCKS) bits of d in f32; BLOCKS come
// first when BLOCKS_FIRST: neighboring threads of linear/matmul_q8.wgsl read the same block of neighboring tokens. In
// words, since neighbors write to one vec4 of what it reads.
@group(0) @binding(2) var<storage, read_write> xq: array<u32>;

var<workgroup> largest: array<array<u32, WORKGROUP>, AT_ONCE>;

fn block_largest(i: u32, lid: u32) -> u32 {
  let first = lid / 8u * 8u;
  var m = 0u;
  for (var j = 0u; j < 8u; j++) { m = max(m, largest[i][first + j]); }
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
  var ds: array<f32, TURNS * AT_ONCE>;
  for (var turn = 0u; turn < TURNS; turn++) {
    let first = turn * AT_ONCE * WORKGROUP + lid;
    var n: array<vec4<f32>, AT_ONCE>;
    for (var i = 0u; i < AT_ONCE; i++) {
      let quad = first + i * WORKGROUP;
      n[i] = vec4(0.0);   // SwiftShader keeps n of the turn before
      if (quad < QUADS) { n[i] = x[token * QUADS + quad]; }
    }
    for (var i = 0u; i < AT_ONCE; i++) {
      square += dot(n[i], n[i]);
      if (NORM) { n[i] *= params[min(first + i * WORKGROUP, QUADS - 1u)]; }
      let magnitude = bitcast<vec4<u32>>(n[i]) & vec4(0x7fffffffu);
      largest[i][lid] = max(max(magnitude.x, magnitude.y), max(magnitude.z, magnitude.w));
    }
    workgroupBarrier();
    for (var i = 0u; i < AT_ONCE; i++) {
      let quad = first + i * WORKGROUP;
      let m = block_largest(i, lid);
      let zero = m < bitcast<u32>(ZERO_BELOW);
      let d = select(bitcast<f32>(m) / 127.0, 0.0, zero);
      ds[turn * AT_ONCE + i] = d;
      if (quad < QUADS) {
        xq[block_at(token, quad / 8u) * 8u + quad % 8u] = select(pack4xI8(vec4<i32>(round(n[i] / d))), 0u, zero);
      }
    }
    workgroupBarrier();
  }
  var rstd = 1.0;
  if (NORM) { rstd = inverseSqrt(workgroup_sum(square, lid) / f32(COLS) + EPS); }
  if (lid % 8u != 0u) { return; }
  for (var i = 0u; i < EACH; i++) {
    let quad = lid + i * WORKGROUP;
    if (quad < QUADS) { xq[step.n_tokens * QUADS + block_at(token, quad / 8u)] = bitcast<u32>(rstd * ds[i]); }
  }
}
