// Keys and values are what the cache holds: no row has a scale. KV_SCALED is a constant, so that nothing is multiplied.
const KV_SCALED = false;
fn key_scale(row: u32) -> f32 { return 1.0; }
fn value_scale(row: u32) -> f32 { return 1.0; }
