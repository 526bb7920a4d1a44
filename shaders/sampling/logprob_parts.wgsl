// The first half of log softmax, before anything changes the logits: parts[w] = (m, sum(exp(logit - logit_of(m)))) of
// the 1,024 logits of workgroup w, with m their largest key, and copies of the logits and of their maxima.
// One 16-byte load a thread. Where all logits are -Infinity, m and the sum are 0.
// Constants: VOCAB_SIZE. Libraries: logit_key.
@group(0) @binding(0) var<storage, read> logits: array<vec4u>;             // (VOCAB_SIZE) bits of f32, padded
@group(0) @binding(1) var<storage, read> maxima: array<u32>;               // (ceil(VOCAB_SIZE / 32)) keys
@group(0) @binding(2) var<storage, read_write> raw_logits: array<vec4u>;   // as logits
@group(0) @binding(3) var<storage, read_write> raw_maxima: array<u32>;     // as maxima
@group(0) @binding(4) var<storage, read_write> parts: array<vec2u>;        // (ceil(VOCAB_SIZE / 1024)) of key and f32

const THREADS = 256u;
const GROUPS = (VOCAB_SIZE + 31u) / 32u;

var<workgroup> keys: array<u32, 32>;
var<workgroup> sums: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_id) lid: vec3u, @builtin(workgroup_id) wid: vec3u) {
  let tid = lid.x;
  let id = 4u * (THREADS * wid.x + tid);
  var bits = vec4u(0xff800000u);
  if (id < VOCAB_SIZE) {
    bits = logits[id / 4u];
    raw_logits[id / 4u] = bits;
  }
  let group = 32u * wid.x + tid;
  if (tid < 32u) {
    var key = 0u;
    if (group < GROUPS) {
      key = maxima[group];
      raw_maxima[group] = key;
    }
    keys[tid] = key;
  }
  workgroupBarrier();
  var m = 0u;
  for (var i = 0u; i < 32u; i++) { m = max(m, keys[i]); }
  sums[tid] = share(bits.x, m, id) + share(bits.y, m, id + 1u) + share(bits.z, m, id + 2u) + share(bits.w, m, id + 3u);
  workgroupBarrier();
  if (tid < 16u) { sums[tid] = sum_of(tid, 16u); }
  workgroupBarrier();
  if (tid == 0u) { parts[wid.x] = vec2u(m, bitcast<u32>(sum_of(0u, 1u))); }
}

fn share(bits: u32, m: u32, id: u32) -> f32 {
  let key = key_of(bits);
  if (id >= VOCAB_SIZE || key == 0u) { return 0.0; }
  return exp(max(logit_of(key) - logit_of(m), -1e30));
}

fn sum_of(first: u32, stride: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < 16u; i++) { sum += sums[first + i * stride]; }
  return sum;
}
