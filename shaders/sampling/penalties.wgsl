// For each distinct id in tokens[0 .. position + n_tokens), once, with the number of times that it is in the answer,
// which begins at answer_start:
// logits[id] = (logit > 0 ? logit / repetition : logit * repetition) - times * frequency - (times > 0 ? presence : 0)
// One workgroup; each thread strides over the tokens. All count first; then the thread that takes an id's count out of
// `seen` changes its logit. So `seen` is left as it was found, and a rewind of the position is exact.
// Libraries: sampling.
@group(0) @binding(0) var<storage, read_write> logits: array<u32>;           // (VOCAB_SIZE) bits of f32
@group(0) @binding(1) var<uniform> sampling: Sampling;
@group(0) @binding(2) var<storage, read> tokens: array<u32>;                 // (context)
@group(0) @binding(3) var<storage, read_write> seen: array<atomic<u32>>;     // (VOCAB_SIZE), 0 between dispatches

const THREADS = 256u;
const BEFORE = 0x80000000u;   // in `seen`: the id is in the prompt; below this bit: times in the answer

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_id) lid: vec3u) {
  let end = step.position + step.n_tokens;
  let first = select(0u, sampling.answer_start, sampling.repetition_penalty == 1.0);
  for (var i = first + lid.x; i < end; i += THREADS) { count(tokens[i], i >= sampling.answer_start); }
  storageBarrier();
  for (var i = first + lid.x; i < end; i += THREADS) { penalize(tokens[i]); }
}

fn count(id: u32, in_answer: bool) {
  if (id >= VOCAB_SIZE) { return; }
  if (in_answer) { atomicAdd(&seen[id], 1u); } else { atomicOr(&seen[id], BEFORE); }
}

// A logit that is not finite stays.
fn penalize(id: u32) {
  if (id >= VOCAB_SIZE) { return; }
  let found = atomicExchange(&seen[id], 0u);
  let bits = logits[id];
  if (found == 0u || (bits & 0x7f800000u) == 0x7f800000u) { return; }
  var logit = bitcast<f32>(bits);
  let repetition = sampling.repetition_penalty;
  if (repetition != 1.0) { logit = select(logit * repetition, logit / repetition, logit > 0.0); }
  let times = found & ~BEFORE;
  if (times > 0u) { logit -= f32(times) * sampling.frequency_penalty + sampling.presence_penalty; }
  logits[id] = bitcast<u32>(logit);
}
