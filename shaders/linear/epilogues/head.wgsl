// logits = cap(SCALE * W n(x)) for the last token of the pass, n = RMSNorm, and maxima[g] = the largest key (logit_key)
// among logits 32 g .. 32 g + 31, which is what sampling reads first. finish of matvec.wgsl; a workgroup has whole
// groups of 32.
// Constants: those of logit_pair. Libraries: logit_key, logit_pair.
@group(0) @binding(4) var<storage, read_write> logits: array<f32>;   // (ROWS), ROWS = vocabulary
@group(0) @binding(5) var<storage, read_write> maxima: array<u32>;   // (ceil(ROWS / 32))

var<workgroup> pair_keys: array<vec4<u32>, ROWS_PER_WORKGROUP / 8u>;

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
    pair_keys[lid / 4u][lid % 4u] = key;
  }
  workgroupBarrier();
  if (32u * lid < ROWS_PER_WORKGROUP && first_row + 32u * lid < PART_ROWS) {
    let i = 4u * lid;
    let most = max(max(pair_keys[i], pair_keys[i + 1u]), max(pair_keys[i + 2u], pair_keys[i + 3u]));
    maxima[(ROW0 + first_row) / 32u + lid] = max(max(most.x, most.y), max(most.z, most.w));
  }
}
