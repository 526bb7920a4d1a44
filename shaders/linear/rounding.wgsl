// is_exact[i] = 1 where `lowered` is exact: no product of these sums and scales needs more bits than f32 has.
// Constants: COUNT. Libraries: lowered.
const SUM_BITS = 0x4b400000;   // as in weights/quants.wgsl
const SUM_ZERO = 12582912.0;

@group(0) @binding(0) var<storage, read_write> is_exact: array<u32>;   // (COUNT)

@compute @workgroup_size(COUNT)
fn main(@builtin(local_invocation_index) i: u32) {
  let sum = i32(127u * i) - 4000;               // 12 bits and a sign
  let d = f32(1025u + 16u * i) / 1048576.0;     // 11 bits, as a scale in f16
  let dots = vec4(bitcast<f32>(SUM_BITS + sum));
  is_exact[i] = u32(all(lowered(dots, d) == vec4(f32(sum) * d)));
}
