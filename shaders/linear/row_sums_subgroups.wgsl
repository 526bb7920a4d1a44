// Sums of rows over the LANES threads that share them, by subgroup operations: LANES is no larger than the smallest
// subgroup. The last sum is that of squares, which every group of lanes has: all of them add it up, since a branch that
// splits a subgroup around its operations costs a fifth of the whole product.
var<workgroup> row_sums: array<f32, SQUARES + 1u>;

fn over_lanes(sum: f32) -> f32 {
  var total = sum;
  for (var offset = LANES / 2u; offset > 0u; offset /= 2u) { total += subgroupShuffleXor(total, offset); }
  return total;
}

fn put_sum(row: u32, lane: u32, sum: f32) {
  let total = over_lanes(sum);
  if (lane == 0u) { row_sums[row] = total; }
}

fn put_square(lid: u32, square: f32) {
  let total = over_lanes(square);
  if (lid == 0u) { row_sums[SQUARES] = total; }
}

fn row_sum(row: u32) -> f32 { return row_sums[row]; }
