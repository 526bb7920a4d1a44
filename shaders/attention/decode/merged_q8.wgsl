// What attention leaves, in signed bytes for the output projection. The kernel defines QUADS, those of a head.
// Libraries: quads_q8.
const QUANTIZED_QUADS = QUADS;

// (n_tokens, N_HEADS, HEAD_DIM) bytes, then (n_tokens, N_HEADS, HEAD_DIM / 32) f32 d
@group(0) @binding(3) var<storage, read_write> quantized: array<u32>;

// The first QUADS threads have a quad of o each; `head` counts those of all tokens.
fn put_merged(head: u32, lid: u32, o: vec4<f32>) {
  if (lid < QUADS) { quads[lid] = array(o.x, o.y, o.z, o.w); }
  workgroupBarrier();
  if (lid < QUADS) {
    let quad = head * QUADS + lid;
    put_quad_q8(lid, quad, step.n_tokens * N_HEADS * QUADS + quad / 8u);
  }
}
