// Sums of rows over the LANES threads that share them, by subgroup operations: LANES is no larger than the smallest subgroup.
var<workgroup> row_sums: array<f32, SUMS>;

fn put_sum(row: u32, lane: u32, sum: f32) {
  var total = sum;
  for (var offset = LANES / 2u; offset > 0u; offset /= 2u) { total += subgroupShuffleXor(total, offset); }
  if (lane == 0u) { row_sums[row] = total; }
}

fn row_sum(row: u32) -> f32 { return row_sums[row]; }
