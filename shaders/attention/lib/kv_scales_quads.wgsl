// The scale of a row of signed bytes in a cache that is bound in quads: f32 (N_KV_HEADS, CONTEXT) behind all rows.
const KV_SCALED = true;
const KV_SCALES = N_KV_HEADS * CONTEXT * (HEAD_DIM / 4u);
fn key_scale(row: u32) -> f32 { return bitcast<f32>(k_cache[KV_SCALES + row]); }
fn value_scale(row: u32) -> f32 { return bitcast<f32>(v_cache[KV_SCALES + row]); }
