// tile_max(s): partial[r, g] = max of s[g] over one of PARTS subsets of the threads; together they cover all of them.
// Through workgroup memory, for any device. Reads and writes of `partial` and `tile_p` need barriers around the call.
fn tile_max(s: ptr<function, array<f32, HEADS>>, lid: u32) {
  for (var g = 0u; g < HEADS; g++) { tile_p[g * WORKGROUP + lid] = (*s)[g]; }
  workgroupBarrier();
  for (var i = lid; i < HEADS * PARTS; i += WORKGROUP) {
    let row = i / PARTS * WORKGROUP;
    var part = M_START;
    for (var j = i % PARTS; j < WORKGROUP; j += PARTS) { part = max(part, tile_p[row + j]); }
    partial[i % PARTS * HEADS + i / PARTS] = part;
  }
}
