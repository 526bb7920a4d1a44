// prepare_x where subgroups have four lanes or more: BLOCK_LANES of them, 4 or 8, hold a block, two quads each or one.
fn prepare_x(lid: u32) {
  let lane = lid % BLOCK_LANES;
  for (var first = 0u; first < BLOCKS; first += WORKGROUP / BLOCK_LANES) {
    let here = first + lid / BLOCK_LANES;
    let block = min(here, BLOCKS - 1u);   // past the end: the last block again
    var v = x_quad(block * 8u + lane);
    var w = vec4(0.0);
    if (BLOCK_LANES == 4u) { w = x_quad(block * 8u + 4u + lane); }
    var square = 0.0;
    if (NORM) {
      square = dot(v, v) + dot(w, w);
      v *= norm_quad(block * 8u + lane);
      if (BLOCK_LANES == 4u) { w *= norm_quad(block * 8u + 4u + lane); }
    }
    var most = largest(max(magnitudes(v), magnitudes(w)));
    most = max(most, subgroupShuffleXor(most, 1u));
    most = max(most, subgroupShuffleXor(most, 2u));
    if (BLOCK_LANES == 8u) { most = max(most, subgroupShuffleXor(most, 4u)); }
    if (NORM) {
      square += subgroupShuffleXor(square, 1u);
      square += subgroupShuffleXor(square, 2u);
      if (BLOCK_LANES == 8u) { square += subgroupShuffleXor(square, 4u); }
    }
    let d = block_d(most);
    let four = words_of_four(quantize_quad(v, d.y));
    var high = four;
    if (BLOCK_LANES == 4u) { high = words_of_four(quantize_quad(w, d.y)); }
    if (here < BLOCKS) {
      if (lane == 0u) {
        x_low[block] = four;
        x_d[block] = vec2(d.x, square);
      }
      if (lane == BLOCK_LANES - 4u) { x_high[block] = high; }
    }
  }
  workgroupBarrier();
}

// The words of four lanes, in the first of them. One lane writes a vector, since a write to a component may write all.
fn words_of_four(q: u32) -> vec4<u32> {
  return vec4(q, subgroupShuffleXor(q, 1u), subgroupShuffleXor(q, 2u), subgroupShuffleXor(q, 3u));
}
