// tile_max(s), tile_sum(s): partial of this tile's half = max or sum of s over PARTS subsets of the threads, which
// together are all of them. Constants: SUBGROUP, the smallest of the device, which is WORKGROUP / PARTS. In a larger
// one every thread of a subset writes the same max; a sum is added up over SUBGROUP threads only.
fn tile_max(s: ptr<function, Scores>, odd: u32, lid: u32) {
  for (var h = 0u; h < HEAD_QUADS; h++) {
    let part = subgroupMax((*s)[h]);
    if (lid % SUBGROUP == 0) { partial[(odd * HEAD_QUADS + h) * PARTS + lid / SUBGROUP] = part; }
  }
}

fn tile_sum(s: ptr<function, Scores>, odd: u32, lid: u32) {
  for (var h = 0u; h < HEAD_QUADS; h++) {
    var part = (*s)[h];
    for (var stride = SUBGROUP / 2; stride > 0; stride /= 2) { part += subgroupShuffleXor(part, stride); }
    if (lid % SUBGROUP == 0) { partial[(odd * HEAD_QUADS + h) * PARTS + lid / SUBGROUP] = part; }
  }
}
