// lane_sums(sums): added up over the LANES threads that share a pair of rows; lane 0 has the result.
// Shuffles within runs of SUBGROUP threads (no larger than the smallest subgroup of the device), then, where LANES is
// larger, one round through workgroup memory. Constants: LANES, WORKGROUP, SUBGROUP.
var<workgroup> partial: array<vec3<f32>, WORKGROUP / SUBGROUP>;

fn lane_sums(sums: vec3<f32>, lid: u32) -> vec3<f32> {
  var total = sums;
  for (var offset = SUBGROUP / 2u; offset > 0u; offset /= 2u) { total += subgroupShuffleXor(total, offset); }
  if (LANES == SUBGROUP) { return total; }
  let run = lid / SUBGROUP;
  if (lid % SUBGROUP == 0u) { partial[run] = total; }
  workgroupBarrier();
  if (lid % LANES == 0u) {
    for (var i = 1u; i < LANES / SUBGROUP; i++) { total += partial[run + i]; }
  }
  return total;
}
