// places[position + n_tokens + 1] = the place after tokens[position + n_tokens], from the place before it.
// Each of 32 threads walks the token and writes one word. The place stays as it is after a token that ends the answer,
// one that is refused, and where there is none (NO_TOKEN, GAVE_UP): steps that are queued behind it change nothing.
// Constants: VOCAB_SIZE, RING. Libraries: walk.
@group(0) @binding(0) var<storage, read> tokens: array<u32>;          // (CONTEXT + 1)
@group(0) @binding(1) var<uniform> shape: Shape;
@group(0) @binding(2) var<storage, read> automaton: array<u32>;       // classes, needs, pushes, edges: packAutomaton
@group(0) @binding(3) var<storage, read> starts: array<u32>;          // (VOCAB_SIZE + 1) of each token's bytes | ENDS
@group(0) @binding(4) var<storage, read> bytes: array<u32>;           // all bytes, four in a word
@group(0) @binding(5) var<storage, read_write> places: array<u32>;    // (RING, 32)

@compute @workgroup_size(PLACE)
fn main(@builtin(local_invocation_id) lid: vec3u) {
  let position = step.position + step.n_tokens;
  let id = tokens[position];
  let word = lid.x;
  begin(position);
  let before = places[at_place + word];
  var after = before;
  if (id < VOCAB_SIZE && !is_end(id) && walk(id)) {
    if (word == 0u) { after = state; }
    else if (word == 1u) { after = depth + n_own; }
    else if (word - 2u >= depth && word - 2u < depth + n_own) { after = own[word - 2u - depth]; }
  }
  places[PLACE * ((position + 1u) % RING) + word] = after;
}
