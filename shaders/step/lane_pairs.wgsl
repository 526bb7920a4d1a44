// The step's own key and value as lanes take them, floats or halves. Library of attention_lanes: fresh_pairs.
fn fresh_cell(i: u32) -> KvCell { return fresh_oct(0u, i); }
fn fresh_scale(kind: u32) -> f32 { return 1.0; }

fn scale_row(layer: u32) -> u32 { return 0u; }
fn store_scales(row: u32) {}
