// A quad of o of one head over the parts first, first + stride ... of the keys, not yet divided by l:
// o = sum_s alpha_s o_s and l = sum_s alpha_s l_s, with alpha_s = p of m_s under the largest m (Flash-Decoding, Dao et
// al. 2023).
// Libraries: online_softmax. The kernel defines n_splits(), ml_at(head, split) and o_at(head, split, quad).
struct Merged { state: SoftmaxState, o: vec4<f32> }

fn merge_parts(head: u32, quad: u32, first: u32, stride: u32) -> Merged {
  var state = SoftmaxState(M_START, 0.0);
  var o = vec4(0.0);
  for (var s = first; s < n_splits(); s += 4u * stride) { // four at a time, by name: see decode_tiles
    let part0 = part_at(head, s);
    let part1 = part_at(head, s + stride);
    let part2 = part_at(head, s + 2u * stride);
    let part3 = part_at(head, s + 3u * stride);
    let o0 = o_of(head, s, quad);
    let o1 = o_of(head, s + stride, quad);
    let o2 = o_of(head, s + 2u * stride, quad);
    let o3 = o_of(head, s + 3u * stride, quad);
    let m = max(state.m, max(max(part0.m, part1.m), max(part2.m, part3.m)));
    let alpha = softmax_p(state.m, m);
    let alphas = softmax_p4(vec4(part0.m, part1.m, part2.m, part3.m), vec4(m));
    o = alpha * o + alphas.x * o0 + alphas.y * o1 + alphas.z * o2 + alphas.w * o3;
    state = SoftmaxState(m, alpha * state.l + dot(alphas, vec4(part0.l, part1.l, part2.l, part3.l)));
  }
  return Merged(state, o);
}

// Past the last split: a state that weighs nothing, and the last o.
fn part_at(head: u32, split: u32) -> SoftmaxState {
  if (split < n_splits()) { return ml_at(head, split); }
  return SoftmaxState(MASKED, 0.0);
}

fn o_of(head: u32, split: u32, quad: u32) -> vec4<f32> { return o_at(head, min(split, n_splits() - 1u), quad); }
