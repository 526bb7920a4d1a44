// The first half of log softmax, before biases and penalties change the logits: parts[r, w] = logprob_part of the 1,024
// logits of workgroup w of row r, and copies of the logits and of their maxima. One 16-byte load a thread.
// Rows of logits and maxima are padded to 16 bytes. Constants: VOCAB_SIZE. Libraries: logit_key, logprob_part.
@group(0) @binding(0) var<storage, read> logits: array<vec4u>;           // (rows, VOCAB_SIZE) bits of f32
@group(0) @binding(1) var<storage, read> maxima: array<u32>;             // (rows, ceil(VOCAB_SIZE / 32)) keys
@group(0) @binding(2) var<storage, read_write> raw_logits: array<vec4u>; // as logits
@group(0) @binding(3) var<storage, read_write> raw_maxima: array<u32>;   // as maxima
@group(0) @binding(4) var<storage, read_write> parts: array<vec2u>;      // (rows, ceil(VOCAB_SIZE / 1024))

const THREADS = 256u;
const LOGIT_QUADS = (VOCAB_SIZE + 3u) / 4u;
const GROUPS = (VOCAB_SIZE + 31u) / 32u;
const PARTS = (VOCAB_SIZE + 1023u) / 1024u;

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_id) lid: vec3u, @builtin(workgroup_id) wid: vec3u) {
  let tid = lid.x;
  let id = 4u * (THREADS * wid.x + tid);
  var bits = vec4u(0xff800000u);
  if (id < VOCAB_SIZE) {
    let quad = wid.y * LOGIT_QUADS + id / 4u;
    bits = logits[quad];
    raw_logits[quad] = bits;
  }
  let group = 32u * wid.x + tid;
  var key = 0u;
  if (tid < 32u && group < GROUPS) {
    let place = wid.y * ((GROUPS + 3u) / 4u * 4u) + group;
    key = maxima[place];
    raw_maxima[place] = key;
  }
  let part = part_of(tid, id, bits, key);
  if (tid == 0u) { parts[wid.y * PARTS + wid.x] = part; }
}
