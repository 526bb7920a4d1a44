// out[group] = sum of all words of x, if that is SENTINEL. No load can be left out, and nothing is written.
//
// Workgroups stride over x together. In each round a thread has LOADS loads of 16 bytes in flight; neighboring threads
// read neighboring words.
const SPAN = WORKGROUP * LOADS;

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;      // (a multiple of SPAN)
@group(0) @binding(1) var<storage, read_write> out: array<u32>;    // (workgroups)

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) wid: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) lid: u32,
) {
  var sum = vec4<u32>();
  for (var base = wid.x * SPAN; base < arrayLength(&x); base += groups.x * SPAN) {
    for (var i = 0u; i < LOADS; i++) { sum += x[base + i * WORKGROUP + lid]; }
  }
  if (sum.x + sum.y + sum.z + sum.w == SENTINEL) { out[wid.x] = sum.x; }
}
