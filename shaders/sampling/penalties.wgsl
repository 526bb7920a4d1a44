// For each distinct id up to the last token of a pass, or to each token of a batch (y), once, with the number of times
// that it is in the answer, which begins at answer_start:
// logits[id] = (logit > 0 ? logit / repetition : logit * repetition) - times * frequency - (times > 0 ? presence : 0)
// One workgroup a row; each thread strides over the tokens. All count first; then the thread that takes an id's count
// out of `seen` changes its logit. So `seen` is left as it was found, and a rewind of the position is exact.
// Rows of logits are padded to 16 bytes. Constants: VOCAB_SIZE. Libraries: sampling, asked or asked_batch, history or
// history_batch.
@group(0) @binding(0) var<storage, read_write> logits: array<u32>;           // (rows, VOCAB_SIZE) bits of f32
@group(0) @binding(1) var<storage, read_write> seen: array<atomic<u32>>;     // (rows, VOCAB_SIZE), 0 between dispatches

const THREADS = 256u;
const BEFORE = 0x80000000u;   // in `seen`: the id is in the prompt; below this bit: times in the answer

var<private> row: u32;

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_id) lid: vec3u, @builtin(workgroup_id) wid: vec3u) {
  row = wid.y;
  let asked = asked_of(row);
  let token = row + select(step.n_tokens - 1u, 0u, BATCHED);
  let end = position_of(token) + 1u;
  let first = first_of(asked, end);
  if (lid.x == 0u) { keep_id(token); }
  for (var i = first + lid.x; i < end; i += THREADS) { count(id_at(token, i), i >= asked.answer_start); }
  storageBarrier();
  for (var i = first + lid.x; i < end; i += THREADS) { penalize(id_at(token, i), asked); }
}

// The first position that counts: none does in a row without penalties.
fn first_of(asked: Sampling, end: u32) -> u32 {
  if (asked.repetition_penalty != 1.0) { return 0u; }
  return select(asked.answer_start, end, asked.presence_penalty == 0.0 && asked.frequency_penalty == 0.0);
}

fn count(id: u32, in_answer: bool) {
  if (id >= VOCAB_SIZE) { return; }
  let word = row * VOCAB_SIZE + id;
  if (in_answer) { atomicAdd(&seen[word], 1u); } else { atomicOr(&seen[word], BEFORE); }
}

// A logit that is not finite stays.
fn penalize(id: u32, asked: Sampling) {
  if (id >= VOCAB_SIZE) { return; }
  let found = atomicExchange(&seen[row * VOCAB_SIZE + id], 0u);
  let place = row * ((VOCAB_SIZE + 3u) / 4u * 4u) + id;
  let bits = logits[place];
  if (found == 0u || (bits & 0x7f800000u) == 0x7f800000u) { return; }
  var logit = bitcast<f32>(bits);
  let repetition = asked.repetition_penalty;
  if (repetition != 1.0) { logit = select(logit * repetition, logit / repetition, logit > 0.0); }
  let times = found & ~BEFORE;
  if (times > 0u) { logit -= f32(times) * asked.frequency_penalty + asked.presence_penalty; }
  logits[place] = bitcast<u32>(logit);
}
