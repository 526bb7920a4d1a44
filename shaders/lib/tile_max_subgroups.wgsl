// tile_max(s): partial[r, g] = max of s[g] over one of PARTS subsets of the threads; together they cover all of them.
// WORKGROUP / PARTS is no more than the smallest subgroup of the device: a larger one writes its max to several parts.
fn tile_max(s: ptr<function, array<f32, HEADS>>, lid: u32) {
  for (var g = 0u; g < HEADS; g++) {
    let part = subgroupMax((*s)[g]);
    if (lid % (WORKGROUP / PARTS) == 0u) { partial[lid / (WORKGROUP / PARTS) * HEADS + g] = part; }
  }
}
