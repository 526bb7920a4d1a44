// What each request of a batch asks of the sampler. The result is the same in a workgroup, so that barriers may depend
// on it; `sampling` is the same for all else. Libraries: sampling.
@group(0) @binding(2) var<storage, read> asked_rows: array<Sampling>;   // (SLOTS)

var<private> sampling: Sampling;

fn asked_of(row: u32) -> Sampling {
  let slot = kv_slot(row);
  sampling = asked_rows[slot];
  return asked_rows[slot];
}
