// The sum of what every thread of a workgroup has, in all of them, on any device. Constants: WORKGROUP, a power of two.
var<workgroup> terms: array<f32, WORKGROUP>;

fn workgroup_sum(term: f32, lid: u32) -> f32 {
  terms[lid] = term;
  for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lid < half) { terms[lid] += terms[lid + half]; }
  }
  workgroupBarrier();
  return terms[0];
}
