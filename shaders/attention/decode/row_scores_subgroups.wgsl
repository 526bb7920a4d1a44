// row_scores(s): the scores of key `lid` of the tile that begins with key `start`. Four threads read their four rows
// together, so that a load of theirs is four neighboring octs, and each q is read from workgroup memory once for four
// keys; then they trade sums. What lies past the tile is scored too, whatever it is, and masked later. Four neighboring
// threads must be in one subgroup. Eight loads are on their way at a time, by name, since compilers do not hoist them
// out of a loop.
struct FourKeys { s0: Heads, s1: Heads, s2: Heads, s3: Heads }

fn row_scores(s: ptr<function, Scores>, cache: u32, start: u32, lid: u32, tile: u32) {
  let rank = lid % 4;
  let key = start + lid - rank;
  let row0 = cache + slot_of(key) * OCTS;
  let row1 = cache + slot_of(key + 1) * OCTS;
  let row2 = cache + slot_of(key + 2) * OCTS;
  let row3 = cache + slot_of(key + 3) * OCTS;
  var sums: array<FourKeys, HEAD_QUADS>; // over this thread's octs
  if (lid - rank < tile) {
    for (var c = rank; c < OCTS; c += 8) {
      let k0 = k_cache[row0 + c];
      let k1 = k_cache[row1 + c];
      let k2 = k_cache[row2 + c];
      let k3 = k_cache[row3 + c];
      let next = min(c + 4, OCTS - 1);
      let k4 = k_cache[row0 + next];
      let k5 = k_cache[row1 + next];
      let k6 = k_cache[row2 + next];
      let k7 = k_cache[row3 + next];
      for (var h = 0u; h < HEAD_QUADS; h++) {
        sums[h] = score_four(sums[h], h, c, kv_oct(k0), kv_oct(k1), kv_oct(k2), kv_oct(k3));
        if (OCTS % 8 == 0 || c + 4 < OCTS) {
          sums[h] = score_four(sums[h], h, c + 4, kv_oct(k4), kv_oct(k5), kv_oct(k6), kv_oct(k7));
        }
      }
    }
  }
  for (var h = 0u; h < HEAD_QUADS; h++) { (*s)[h] = own_sum(sums[h], rank); }
}

fn score_four(x: FourKeys, h: u32, c: u32, k0: Oct, k1: Oct, k2: Oct, k3: Oct) -> FourKeys {
  return FourKeys(
    score_oct(x.s0, h, c, k0), score_oct(x.s1, h, c, k1), score_oct(x.s2, h, c, k2), score_oct(x.s3, h, c, k3),
  );
}

// Of key `rank` of the four, over the four threads: each gives away the half that its partner keeps, then the quarter.
fn own_sum(x: FourKeys, rank: u32) -> Heads {
  let upper = rank >= 2;
  let even_key = select(x.s0, x.s2, upper) + subgroupShuffleXor(select(x.s2, x.s0, upper), 2);
  let odd_key = select(x.s1, x.s3, upper) + subgroupShuffleXor(select(x.s3, x.s1, upper), 2);
  let odd = rank % 2 == 1;
  return select(even_key, odd_key, odd) + subgroupShuffleXor(select(odd_key, even_key, odd), 1);
}
