// The step's own key and value as lanes take them, in signed bytes, with a scale each. Library of attention_lanes:
// fresh_q8, kv_scales_cells.
fn fresh_cell(i: u32) -> KvCell { return vec4(fresh_oct(0u, 2u * i), fresh_oct(0u, 2u * i + 1u)); }

// The row of the KV head's first key among the scales, for key_scale and value_scale: two to an oct.
fn scale_row(layer: u32) -> u32 { return 2u * layer * LAYER_OCTS + head_row(); }

fn store_scales(row: u32) {
  k_cache[kv_scales() / 2u + row / 4u][row % 4u] = fresh_scales[0];
  v_cache[kv_scales() + row / 2u][row % 2u] = fresh_scales[1];
}
