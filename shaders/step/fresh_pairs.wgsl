// The key and value of a step as floats or halves, as the cache will have them. Library of heads: kv_f16 or kv_f32.
var<workgroup> fresh: array<KvPair, DIM>;

// Pair i of the key, then value; and what is left to do once all are put.
fn put_fresh(i: u32, y: vec2<f32>) { fresh[i] = kv_pair(y); }
fn finish_fresh() {}

// An oct of the key (0) or value (1), and a cell of the key.
fn fresh_oct(kind: u32, oct: u32) -> KvOct {
  let at = kind * DIM / 2u + 4u * oct;
  return kv_oct_of(fresh[at], fresh[at + 1u], fresh[at + 2u], fresh[at + 3u]);
}
fn fresh_cell(i: u32) -> KvCell { return fresh_oct(0u, i); }

// Rows have no scales.
fn fresh_scale(kind: u32) -> f32 { return 1.0; }
fn scale_row(layer: u32) -> u32 { return 0u; }
fn store_scales(first: u32) {}
