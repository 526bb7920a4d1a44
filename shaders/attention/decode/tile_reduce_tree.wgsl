// tile_max(s), tile_sum(s): partial of this tile's half = max or sum of s over PARTS subsets of the threads, which
// together are all of them. Through workgroup memory, for any device.
fn tile_max(s: ptr<function, Scores>, odd: u32, lid: u32) {
  share(s, odd, lid);
  for (var i = lid; i < HEAD_QUADS * PARTS; i += WORKGROUP) {
    let half = odd * HEAD_QUADS + i / PARTS;
    var part = Heads(M_START);
    for (var j = i % PARTS; j < WORKGROUP; j += PARTS) { part = max(part, tile_p[half * WORKGROUP + j]); }
    partial[half * PARTS + i % PARTS] = part;
  }
}

fn tile_sum(s: ptr<function, Scores>, odd: u32, lid: u32) {
  share(s, odd, lid);
  for (var i = lid; i < HEAD_QUADS * PARTS; i += WORKGROUP) {
    let half = odd * HEAD_QUADS + i / PARTS;
    var part = Heads(0.0);
    for (var j = i % PARTS; j < WORKGROUP; j += PARTS) { part += tile_p[half * WORKGROUP + j]; }
    partial[half * PARTS + i % PARTS] = part;
  }
}

fn share(s: ptr<function, Scores>, odd: u32, lid: u32) {
  for (var h = 0u; h < HEAD_QUADS; h++) { tile_p[(odd * HEAD_QUADS + h) * WORKGROUP + lid] = (*s)[h]; }
  workgroupBarrier();
}
