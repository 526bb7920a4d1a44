// Eight independent chains a = a * factor + term of four floats each, all in registers: the most f32 operations a
// second. Four links of every chain in one turn, so that the loop itself costs next to nothing: 8 * 4 * 4 fused
// operations a turn.
//
// factor and term come from memory, so that no compiler knows the result.
struct Link { factor: vec4<f32>, term: vec4<f32> }
@group(0) @binding(0) var<storage, read> link: Link;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>; // (invocations of one workgroup)

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let f = link.factor;
  let t = link.term;
  var a = vec4<f32>(f32(id.x));
  var b = a + 1;
  var c = a + 2;
  var d = a + 3;
  var e = a + 4;
  var g = a + 5;
  var h = a + 6;
  var i = a + 7;
  for (var turn = 0u; turn < TURNS; turn++) {
    a = fma(a, f, t); b = fma(b, f, t); c = fma(c, f, t); d = fma(d, f, t);
    e = fma(e, f, t); g = fma(g, f, t); h = fma(h, f, t); i = fma(i, f, t);
    a = fma(a, f, t); b = fma(b, f, t); c = fma(c, f, t); d = fma(d, f, t);
    e = fma(e, f, t); g = fma(g, f, t); h = fma(h, f, t); i = fma(i, f, t);
    a = fma(a, f, t); b = fma(b, f, t); c = fma(c, f, t); d = fma(d, f, t);
    e = fma(e, f, t); g = fma(g, f, t); h = fma(h, f, t); i = fma(i, f, t);
    a = fma(a, f, t); b = fma(b, f, t); c = fma(c, f, t); d = fma(d, f, t);
    e = fma(e, f, t); g = fma(g, f, t); h = fma(h, f, t); i = fma(i, f, t);
  }
  let sum = a + b + c + d + e + g + h + i;
  if (any(sum == vec4<f32>(SENTINEL))) { out[lid] = sum; }
}
