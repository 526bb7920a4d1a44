// Sums of rows over the LANES threads that share them, for any device: what each has waits in workgroup memory. The
// last sum is that of squares, which every group of lanes has.
var<workgroup> row_sums: array<f32, (SQUARES + 1u) * LANES>;

fn put_sum(row: u32, lane: u32, sum: f32) { row_sums[row * LANES + lane] = sum; }

fn put_square(lid: u32, square: f32) {
  if (lid < LANES) { row_sums[SQUARES * LANES + lid] = square; }
}

fn row_sum(row: u32) -> f32 {
  var total = 0.0;
  for (var lane = 0u; lane < LANES; lane++) { total += row_sums[row * LANES + lane]; }
  return total;
}
