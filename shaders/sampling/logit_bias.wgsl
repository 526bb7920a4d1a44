// logits[id] += bias, for each of n_biases entries; -Infinity if the new token comes before `forbidden_until`.
// One workgroup a row, which is that of the last token of a pass, or of each of a batch (y); each thread strides over
// the entries, which have distinct ids. A logit that is not finite stays. Rows are padded to 16 bytes.
// Constants: VOCAB_SIZE, MOST_BIASES of a slot. Libraries: sampling, asked or asked_batch.
struct Bias { id: u32, bias: f32, forbidden_until: u32 }

@group(0) @binding(0) var<storage, read_write> logits: array<u32>;   // (rows, VOCAB_SIZE) bits of f32
@group(0) @binding(1) var<storage, read> biases: array<Bias>;        // (slots, MOST_BIASES), as packed by packBiases

const THREADS = 256u;
const MINUS_INFINITY = 0xff800000u;

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_id) lid: vec3u, @builtin(workgroup_id) wid: vec3u) {
  let token = wid.y + select(step.n_tokens - 1u, 0u, BATCHED);
  let position = position_of(token) + 1u;
  let row = wid.y * ((VOCAB_SIZE + 3u) / 4u * 4u);
  let n_biases = asked_of(wid.y).n_biases;
  for (var i = lid.x; i < n_biases; i += THREADS) {
    let entry = biases[kv_slot(token) * MOST_BIASES + i];
    if (entry.id < VOCAB_SIZE) {
      let bits = logits[row + entry.id];
      if ((bits & 0x7f800000u) != 0x7f800000u) {
        let sum = bitcast<u32>(bitcast<f32>(bits) + entry.bias);
        logits[row + entry.id] = select(sum, MINUS_INFINITY, position < entry.forbidden_until);
      }
    }
  }
}
