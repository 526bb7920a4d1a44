// What attention leaves, in f32. The kernel defines QUADS, those of a head.
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;   // (n_tokens, N_HEADS, QUADS)

// The first QUADS threads have a quad of o each; `head` counts those of all tokens.
fn put_merged(head: u32, lid: u32, o: vec4<f32>) {
  if (lid < QUADS) { out[head * QUADS + lid] = o; }
}
