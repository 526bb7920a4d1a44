// row_scores(s): the scores of key `lid` of the tile that begins with key `start`. A thread reads its own row; past the
// tile, none.
fn row_scores(s: ptr<function, Scores>, cache: u32, start: u32, lid: u32, tile: u32) {
  if (lid >= tile) { return; }
  for (var c = 0u; c < OCTS; c++) {
    let k = kv_oct(k_cache[cache + slot_of(start + lid) * OCTS + c]);
    for (var h = 0u; h < HEAD_QUADS; h++) { (*s)[h] = score_oct((*s)[h], h, c, k); }
  }
}
