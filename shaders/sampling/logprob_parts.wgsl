// The first half of log softmax, before biases and penalties change the logits: parts[w] = logprob_part of the 1,024
// logits of workgroup w, and copies of the logits and of their maxima. One 16-byte load a thread.
// Constants: VOCAB_SIZE. Libraries: logit_key, logprob_part.
@group(0) @binding(0) var<storage, read> logits: array<vec4u>;           // (VOCAB_SIZE) bits of f32, padded to 16 bytes
@group(0) @binding(1) var<storage, read> maxima: array<u32>;             // (ceil(VOCAB_SIZE / 32)) keys
@group(0) @binding(2) var<storage, read_write> raw_logits: array<vec4u>; // as logits
@group(0) @binding(3) var<storage, read_write> raw_maxima: array<u32>;   // as maxima
@group(0) @binding(4) var<storage, read_write> parts: array<vec2u>;      // (ceil(VOCAB_SIZE / 1024)), of logprob_part

const THREADS = 256u;
const GROUPS = (VOCAB_SIZE + 31u) / 32u;

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
  var key = 0u;
  if (tid < 32u && group < GROUPS) {
    key = maxima[group];
    raw_maxima[group] = key;
  }
  let part = part_of(tid, id, bits, key);
  if (tid == 0u) { parts[wid.x] = part; }
}
