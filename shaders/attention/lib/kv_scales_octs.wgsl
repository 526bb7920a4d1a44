// The scale of a row of signed bytes in a cache that is bound in octs: f32 (N_KV_HEADS, CONTEXT) behind all rows, two
// to an oct.
const KV_SCALED = true;
const KV_SCALES = N_KV_HEADS * CONTEXT * (HEAD_DIM / 8u);
fn key_scale(row: u32) -> f32 { return bitcast<f32>(k_cache[KV_SCALES + row / 2u][row % 2u]); }
fn value_scale(row: u32) -> f32 { return bitcast<f32>(v_cache[KV_SCALES + row / 2u][row % 2u]); }
