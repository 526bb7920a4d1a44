// lane_sums(sums): added up over the LANES threads that share a pair of rows; every lane has the result.
// LANES is no larger than the smallest subgroup of the device, so that it takes neither workgroup memory nor a barrier.
fn lane_sums(sums: vec3<f32>, lid: u32) -> vec3<f32> {
  var total = sums;
  for (var offset = LANES / 2u; offset > 0u; offset /= 2u) { total += subgroupShuffleXor(total, offset); }
  return total;
}
