// row_scores(s): s[g] = q[g] . k of key `lid` of the tile that starts at tile_cache. Four threads read their four rows
// together, so that a load of theirs is four neighbouring octs, and each q is read from workgroup memory once for four keys;
// then they trade sums. Past the tile its last row stands in. Four neighbouring threads must be in one subgroup.
fn row_scores(s: ptr<function, array<f32, HEADS>>, tile_cache: u32, lid: u32, tile: u32) {
  let rank = lid % 4;
  let key = lid - rank;
  var sums = array<vec4<f32>, HEADS>(); // over this thread's octs, of the four keys
  if (key < tile) {
    let row = tile_cache + key * OCTS + rank;
    let row1 = tile_cache + min(key + 1, tile - 1) * OCTS + rank;
    let row2 = tile_cache + min(key + 2, tile - 1) * OCTS + rank;
    let row3 = tile_cache + min(key + 3, tile - 1) * OCTS + rank;
    for (var c = 0u; c < OCTS; c += 4) {
      if (OCTS % 4 == 0 || c + rank < OCTS) {
        let k0 = kv_oct(k_cache[row + c]);
        let k1 = kv_oct(k_cache[row1 + c]);
        let k2 = kv_oct(k_cache[row2 + c]);
        let k3 = kv_oct(k_cache[row3 + c]);
        for (var g = 0u; g < HEADS; g++) {
          let a = quads[g * QUADS + 2 * (c + rank)];
          let b = quads[g * QUADS + 2 * (c + rank) + 1];
          sums[g] += vec4(dot(a, k0.a), dot(a, k1.a), dot(a, k2.a), dot(a, k3.a));
          sums[g] += vec4(dot(b, k0.b), dot(b, k1.b), dot(b, k2.b), dot(b, k3.b));
        }
      }
    }
  }
  for (var g = 0u; g < HEADS; g++) { (*s)[g] = own_sum(sums[g], rank); }
}

// Component `rank` of the sum over the four threads: each gives away the half that its partner keeps, then the quarter.
fn own_sum(sums: vec4<f32>, rank: u32) -> f32 {
  let upper = rank >= 2;
  let half = select(sums.xy, sums.zw, upper) + subgroupShuffleXor(select(sums.zw, sums.xy, upper), 2);
  let odd = rank % 2 == 1;
  return select(half.x, half.y, odd) + subgroupShuffleXor(select(half.y, half.x, odd), 1);
}
