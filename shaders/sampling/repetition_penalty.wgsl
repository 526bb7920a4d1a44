// For each distinct id in tokens[0 .. position + n_tokens), once:
// logits[id] = logit > 0 ? logit / penalty : logit * penalty
// One workgroup; each thread strides over the tokens. The thread that first marks an id in `seen` changes its logit.
// Nothing is kept from step to step, so a rewind of the position is exact.
@group(0) @binding(0) var<storage, read_write> logits: array<f32>;           // (VOCAB_SIZE)
@group(0) @binding(1) var<uniform> sampling: Sampling;
@group(0) @binding(2) var<storage, read> tokens: array<u32>;                 // (context)
@group(0) @binding(3) var<storage, read_write> seen: array<atomic<u32>>;     // (ceil(VOCAB_SIZE / 32)), one bit an id

const THREADS = 256u;

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_id) lid: vec3u) {
  let penalty = sampling.repetition_penalty;
  if (penalty != 1.0) {    // the same in every thread
    for (var word = lid.x; word < (VOCAB_SIZE + 31u) / 32u; word += THREADS) { atomicStore(&seen[word], 0u); }
    storageBarrier();
    for (var i = lid.x; i < step.position + step.n_tokens; i += THREADS) { penalize(tokens[i], penalty); }
  }
}

fn penalize(id: u32, penalty: f32) {
  if (id >= VOCAB_SIZE) { return; }
  let bit = 1u << (id % 32u);
  if ((atomicOr(&seen[id / 32u], bit) & bit) != 0u) { return; }
  let logit = logits[id];
  logits[id] = select(logit * penalty, logit / penalty, logit > 0.0);
}
