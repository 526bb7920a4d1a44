// The scale of a row of signed bytes where keys are bound in cells of 16 bytes and values in octs: f32 (KV_SLOTS,
// N_KV_HEADS, rows) behind all rows.
const KV_SCALED = true;
fn kv_scales() -> u32 { return KV_SLOTS * N_KV_HEADS * kv_room() * (HEAD_DIM / 8u); }
fn key_scale(row: u32) -> f32 { return bitcast<f32>(k_cache[kv_scales() / 2u + row / 4u][row % 4u]); }
fn value_scale(row: u32) -> f32 { return bitcast<f32>(v_cache[kv_scales() + row / 2u][row % 2u]); }
