// lane_sums(sums): every entry of `sums` added up over the LANES threads that share a row group; lane 0 has the result.
// Shuffles within runs of SUBGROUP threads (no larger than the smallest subgroup of the device), then, where LANES is
// larger, one round through workgroup memory.
const RUNS = LANES / SUBGROUP;
var<workgroup> partial: array<f32, SUMS * WORKGROUP / SUBGROUP>;

fn lane_sums(sums: ptr<function, array<f32, SUMS>>, lid: u32) {
  for (var s = 0u; s < SUMS; s++) {
    var sum = (*sums)[s];
    for (var offset = SUBGROUP / 2u; offset > 0u; offset /= 2u) { sum += subgroupShuffleXor(sum, offset); }
    (*sums)[s] = sum;
  }
  if (RUNS == 1u) { return; }
  if (lid % SUBGROUP == 0u) {
    for (var s = 0u; s < SUMS; s++) { partial[s * (WORKGROUP / SUBGROUP) + lid / SUBGROUP] = (*sums)[s]; }
  }
  workgroupBarrier();
  if (lid % LANES == 0u) {
    for (var s = 0u; s < SUMS; s++) {
      for (var run = 1u; run < RUNS; run++) { (*sums)[s] += partial[s * (WORKGROUP / SUBGROUP) + lid / SUBGROUP + run]; }
    }
  }
}
