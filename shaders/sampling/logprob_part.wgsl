// A part of log softmax for `sample` and `logprob_parts`: (m, sum(exp(logit - logit_of(m)))) of 1,024 logits, with m
// their largest key. Where all logits are -Infinity, m and the sum are 0.
// Constants: VOCAB_SIZE. Libraries: logit_key.
var<workgroup> part_keys: array<u32, 32>;
var<workgroup> part_sums: array<f32, 256>;

// Called by 256 threads. bits: the logits from `id` on, four a thread; key: the maximum of group tid of the part, for
// tid < 32. Only thread 0 gets the part.
fn part_of(tid: u32, id: u32, bits: vec4u, key: u32) -> vec2u {
  if (tid < 32u) { part_keys[tid] = key; }
  workgroupBarrier();
  var m = 0u;
  for (var i = 0u; i < 32u; i++) { m = max(m, part_keys[i]); }
  part_sums[tid] =
    share(bits.x, m, id) + share(bits.y, m, id + 1u) + share(bits.z, m, id + 2u) + share(bits.w, m, id + 3u);
  workgroupBarrier();
  if (tid < 16u) { part_sums[tid] = part_sum(tid, 16u); }
  workgroupBarrier();
  return vec2u(m, bitcast<u32>(part_sum(0u, 1u)));
}

fn share(bits: u32, m: u32, id: u32) -> f32 {
  let key = key_of(bits);
  if (id >= VOCAB_SIZE || key == 0u) { return 0.0; }
  return exp(max(logit_of(key) - logit_of(m), -1e30));
}

fn part_sum(first: u32, stride: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < 16u; i++) { sum += part_sums[first + i * stride]; }
  return sum;
}
