// Sums of rows over the LANES threads that share them, for any device: what each has waits in workgroup memory.
var<workgroup> row_sums: array<f32, SUMS * LANES>;

fn put_sum(row: u32, lane: u32, sum: f32) { row_sums[row * LANES + lane] = sum; }

fn row_sum(row: u32) -> f32 {
  var total = 0.0;
  for (var lane = 0u; lane < LANES; lane++) { total += row_sums[row * LANES + lane]; }
  return total;
}
