// logits[id] += bias, for each of n_biases entries; -Infinity if the new token comes before `forbidden_until`.
// One workgroup; each thread strides over the entries, which have distinct ids. A logit that is not finite stays.
// Libraries: sampling.
struct Bias { id: u32, bias: f32, forbidden_until: u32 }

@group(0) @binding(0) var<storage, read_write> logits: array<u32>;   // (VOCAB_SIZE) bits of f32
@group(0) @binding(1) var<uniform> sampling: Sampling;
@group(0) @binding(2) var<storage, read> biases: array<Bias>;        // (n_biases), as packed by packBiases

const THREADS = 256u;
const MINUS_INFINITY = 0xff800000u;

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_id) lid: vec3u) {
  let position = step.position + step.n_tokens;
  for (var i = lid.x; i < sampling.n_biases; i += THREADS) {
    let entry = biases[i];
    if (entry.id < VOCAB_SIZE) {
      let bits = logits[entry.id];
      if ((bits & 0x7f800000u) != 0x7f800000u) {
        let sum = bitcast<u32>(bitcast<f32>(bits) + entry.bias);
        logits[entry.id] = select(sum, MINUS_INFINITY, position < entry.forbidden_until);
      }
    }
  }
}
