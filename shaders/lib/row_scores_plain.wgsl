// row_scores(s): s[g] = q[g] . k of key `lid` of the tile that starts at tile_cache. A thread reads its own row; past the tile, none.
fn row_scores(s: ptr<function, array<f32, HEADS>>, tile_cache: u32, lid: u32, tile: u32) {
  if (lid >= tile) { return; }
  for (var c = 0u; c < OCTS; c++) {
    let k = kv_oct(k_cache[tile_cache + lid * OCTS + c]);
    for (var g = 0u; g < HEADS; g++) {
      (*s)[g] += dot(quads[g * QUADS + 2 * c], k.a) + dot(quads[g * QUADS + 2 * c + 1], k.b);
    }
  }
}
