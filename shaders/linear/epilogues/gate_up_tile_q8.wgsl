// h[t, i] = activation(gate) * up as in gate_up.wgsl, of the tokens of a matmul_q8, quantized in blocks of 32 for the
// down projection. A tile has whole blocks, 64 rows each; a thread quantizes a block. The quads of a block are rotated
// by its token, so that neighboring threads read different banks. Quads are arrays, not vectors: a write to one
// component of a vector may write all of them.
// Constants: ZERO_BELOW. Libraries: activation, quantize_block.
const TILE_BLOCKS = TILE_ROWS / 64u;

// Every block of all tokens: (ROWS / 64, n_tokens) bytes, 32 each, then (ROWS / 64, n_tokens) f32 d
@group(0) @binding(4) var<storage, read_write> quantized: array<u32>;

var<workgroup> h_quads: array<array<array<array<f32, 4>, 8>, TILE_BLOCKS>, TOKENS_AT_ONCE>;

fn fetch(token: u32, row: u32) -> vec2<f32> { return vec2(0.0); }

fn emit(token: u32, row: u32, y: vec2<f32>, fetched: vec2<f32>) {
  let i = (row - ROW0) / 2u;
  h_quads[token % TOKENS_AT_ONCE][i / 32u % TILE_BLOCKS][(i / 4u + token) % 8u][i % 4u] = activation(y.x) * y.y;
}

// Quad i of a block.
fn h_quad(at: u32, tile_block: u32, i: u32) -> vec4<f32> {
  let place = (i + at) % 8u;
  return vec4(
    h_quads[at][tile_block][place][0], h_quads[at][tile_block][place][1],
    h_quads[at][tile_block][place][2], h_quads[at][tile_block][place][3],
  );
}

fn finish_tokens(first_token: u32, first_row: u32, thread: u32) {
  workgroupBarrier();
  for (var i = thread; i < TOKENS_AT_ONCE * TILE_BLOCKS; i += THREADS * K_SHARES) {
    let at = i % TOKENS_AT_ONCE;
    let tile_block = i / TOKENS_AT_ONCE;
    let token = first_token + at;
    let part_row = first_row + tile_block * 64u;
    if (token >= step.n_tokens || part_row >= PART_ROWS) { continue; }
    var most = vec4(0u);
    for (var j = 0u; j < 8u; j++) { most = max(most, magnitudes(h_quad(at, tile_block, j))); }
    let d = block_d(max(max(most.x, most.y), max(most.z, most.w)));
    let block = (ROW0 + part_row) / 64u * step.n_tokens + token;
    for (var j = 0u; j < 8u; j++) {
      quantized[block * 8u + j] = quantize_quad(h_quad(at, tile_block, j), d.y);
    }
    quantized[ROWS / 8u * step.n_tokens + block] = bitcast<u32>(d.x);
  }
  workgroupBarrier();
}
