// x as the parts that split_kv_decode.wgsl leaves of one token, merged here. Behind an epilogue of one binding.
// Constants: HEAD_DIM. Libraries: online_softmax, merge_parts.
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;                // (N_HEADS, splits, HEAD_DIM / 4)
@group(0) @binding(5) var<storage, read> part_ml: array<SoftmaxState>;       // (N_HEADS, splits)
@group(0) @binding(6) var<uniform> splits: u32;

fn n_splits() -> u32 { return splits; }
fn ml_at(head: u32, split: u32) -> SoftmaxState { return part_ml[head * splits + split]; }
fn o_at(head: u32, split: u32, quad: u32) -> vec4<f32> { return x[(head * splits + split) * (HEAD_DIM / 4u) + quad]; }

fn x_quad(i: u32) -> vec4<f32> {
  let part = merge_parts(i / (HEAD_DIM / 4u), i % (HEAD_DIM / 4u), 0u, 1u);
  return part.o / part.state.l;
}
