// lane_sums(sums): added up over the LANES threads that share a pair of rows; lane 0 has the result.
// A tree in workgroup memory, for any device. Constants: LANES, WORKGROUP.
var<workgroup> partial: array<vec3<f32>, WORKGROUP>;

fn lane_sums(sums: vec3<f32>, lid: u32) -> vec3<f32> {
  partial[lid] = sums;
  workgroupBarrier();
  for (var stride = LANES / 2u; stride > 0u; stride /= 2u) {
    if (lid % LANES < stride) { partial[lid] += partial[lid + stride]; }
    workgroupBarrier();
  }
  return partial[lid];
}
