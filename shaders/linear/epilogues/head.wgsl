// logits = cap(SCALE * W n(x)) for the last token of the pass, n = RMSNorm, and maxima[g] = the largest key (logit_key)
// among logits 32 g .. 32 g + 31, which is what sampling reads first. finish of matvec.wgsl; a workgroup has whole
// groups of 32.
// Constants: those of logit_pair. Libraries: logit_key, logit_pair.
@group(0) @binding(4) var<storage, read_write> logits: array<f32>;   // (ROWS), ROWS = vocabulary
@group(0) @binding(5) var<storage, read_write> maxima: array<u32>;   // (ceil(ROWS / 32))

var<workgroup> pair_keys: array<array<u32, 16>, (ROWS_PER_WORKGROUP + 31u) / 32u>; // of the pairs of each group

fn fetch_ahead(first_row: u32, lid: u32) {}

fn finish(first_row: u32, lid: u32) {
  let row = 2u * lid;   // no workgroup has more pairs than threads
  if (row < ROWS_PER_WORKGROUP) {
    var key = 0u;       // past the end no candidate
    if (first_row + row < PART_ROWS) {
      let id = ROW0 + first_row + row;
      let y = logit_pair(y_pair(first_row, row));
      logits[id] = y.x;
      key = key_of(bitcast<u32>(y.x));
      if (id + 1u < ROWS) {
        logits[id + 1u] = y.y;
        key = max(key, key_of(bitcast<u32>(y.y)));
      }
    }
    pair_keys[lid / 16u][lid % 16u] = key;
  }
  workgroupBarrier();
  if (32u * lid < ROWS_PER_WORKGROUP && first_row + 32u * lid < PART_ROWS) {
    var most = 0u;
    for (var i = 0u; i < 16u; i++) { most = max(most, pair_keys[lid][i]); }
    maxima[(ROW0 + first_row) / 32u + lid] = most;
  }
}
