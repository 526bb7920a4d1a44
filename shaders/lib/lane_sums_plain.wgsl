// lane_sums(sums): every entry of `sums` added up over the LANES threads that share a row group; lane 0 has the result.
// A tree in workgroup memory, for any device.
var<workgroup> partial: array<f32, SUMS * WORKGROUP>;

fn lane_sums(sums: ptr<function, array<f32, SUMS>>, lid: u32) {
  for (var s = 0u; s < SUMS; s++) { partial[s * WORKGROUP + lid] = (*sums)[s]; }
  workgroupBarrier();
  for (var stride = LANES / 2u; stride > 0u; stride /= 2u) {
    if (lid % LANES < stride) {
      for (var s = 0u; s < SUMS; s++) { partial[s * WORKGROUP + lid] += partial[s * WORKGROUP + lid + stride]; }
    }
    workgroupBarrier();
  }
  for (var s = 0u; s < SUMS; s++) { (*sums)[s] = partial[s * WORKGROUP + lid]; }
}
