// Drawing for sample.wgsl: the best score among the candidates of a list, or among all.
//
// Among all, noise is cheaper than logits. To reach a score of `bound`, an id of a group whose best log ratio is x must
// have g >= bound - x; with g = -log(e), e >= v (gumbel.wgsl) that needs v <= exp(x - bound). So hashes are compared,
// and only ids whose hash is small enough are listed, read and drawn. If one of them reaches the bound, so does the
// winner, which is then among them; else the bound was too high. About RACERS pass the first one, which the best score
// misses by a chance of exp(-RACERS / 32) at most, and far less where the logits of a group are alike.
const RACERS = 64.0;
const LARGEST_NOISE = 23.0;      // -log(2^-33) = 22.87
const LEAST_NOISE = -3.0;  // -log(24 log(2)) = -2.81: the best logit scores more, so the bound never falls further
const MARGIN = 0.001;            // far above the rounding of exp and log

var<private> bound: f32;

// The id with the best score among those of the list, or among all logits.
fn winner(kept: Kept) -> u32 {
  var goal = 0.0;
  if (!kept.listed) {
    sum = vec2u(0u, 0u);
    scan_groups(WEIGH, kept.floor);
    goal = log(f32(reduce_sum(sum).x) * 0x1p-16f * 32.0 / RACERS);
  }
  var n = kept.n;
  var found = vec2u(0u, 0u);
  loop {
    mine = vec2u(0u, 0u);
    if (!kept.listed) {
      bound = goal;
      start_count();
      scan_groups(RACE, kept.floor);
      n = min(counted(), LIST_SIZE);
      for (var i = tid; i < n; i += THREADS) { list[i].x = key_at(list_id[i]); }
    }
    for (var i = tid; i < n; i += THREADS) { draw(list[i].x, list_id[i], kept.floor); }
    found = reduce_best();
    if (kept.listed || found.x >= key_of(bitcast<u32>(goal)) || goal < LEAST_NOISE) { break; }
    goal -= 3.0;
  }
  return found.y;
}

// If its score is the best of this thread: mine = (key of the score, id).
fn draw(key: u32, id: u32, floor: u32) {
  let x = log_ratio(key);
  if (key < floor || x < sampling.log_min_p) { return; }
  let score = vec2u(key_of(bitcast<u32>(x + gumbel(id, position))), id);
  if (better(score, mine)) { mine = score; }
}

// Lists the ids of a group that may reach the bound, or draws those that the list does not hold.
fn race(key: u32, group: u32, floor: u32) {
  let x = log_ratio(key);
  if (x < sampling.log_min_p || x + LARGEST_NOISE < bound) { return; }
  let v = exp(x - bound + MARGIN);
  let most = select(u32(v * 0x1p32f), 0xffffffffu, v > 0.99);
  for (var id = 32u * group; id < 32u * group + 32u; id++) {
    if (pcg3d(id, position, sampling.seed) <= most) {
      let slot = atomicAdd(&counter[0], 1u);
      if (slot < LIST_SIZE) { list_id[slot] = id; } else { draw(key_at(id), id, floor); }
    }
  }
}
