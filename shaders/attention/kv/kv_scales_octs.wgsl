// The scale of a row of signed bytes in a cache that is bound in octs: f32 (KV_SLOTS, N_KV_HEADS, rows) behind all
// rows, two to an oct.
const KV_SCALED = true;
fn kv_scales() -> u32 { return KV_SLOTS * N_KV_HEADS * kv_room() * (HEAD_DIM / 8u); }
fn key_scale(row: u32) -> f32 { return bitcast<f32>(k_cache[kv_scales() + row / 2u][row % 2u]); }
fn value_scale(row: u32) -> f32 { return bitcast<f32>(v_cache[kv_scales() + row / 2u][row % 2u]); }
