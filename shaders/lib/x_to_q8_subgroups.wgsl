// prepare_x where a subgroup has eight lanes or more: eight of them hold a block, a quad each.
fn prepare_x(lid: u32) {
  let x0 = (step.n_tokens - 1u) * (COLS / 4u);
  for (var first = 0u; first < COLS / 4u; first += WORKGROUP) {
    let i = min(first + lid, COLS / 4u - 1u);   // past the end: the last quad again, by lanes of blocks that do not exist
    var v = x[x0 + i];
    var square = 0.0;
    if (NORM) {
      square = dot(v, v);
      v *= norm_quad(i);
    }
    let a = abs(v);
    var most = max(max(a.x, a.y), max(a.z, a.w));
    most = max(most, subgroupShuffleXor(most, 1u));
    most = max(most, subgroupShuffleXor(most, 2u));
    most = max(most, subgroupShuffleXor(most, 4u));
    if (NORM) {
      square += subgroupShuffleXor(square, 1u);
      square += subgroupShuffleXor(square, 2u);
      square += subgroupShuffleXor(square, 4u);
    }
    let d = block_d(most);
    let q = quantise_quad(v, d.y);
    if (first + lid < COLS / 4u) {
      let block = i / 8u;
      if (i % 8u < 4u) { x_low[block][i % 4u] = q; } else { x_high[block][i % 4u] = q; }
      if (i % 8u == 0u) { x_d[block] = vec2(d.x, square); }
    }
  }
  workgroupBarrier();
}
