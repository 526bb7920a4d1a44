// places[slot, position + 1] = the place after the new token at `position`, from the place before it.
// A workgroup for the last token of a pass, or for each of a batch. Each of its 32 threads walks the token and writes
// one word. The place stays as it is after a token that ends the answer, one that is refused, and where there is none
// (NO_TOKEN, GAVE_UP): steps that are queued behind it change nothing.
// Constants: VOCAB_SIZE, RING, SHAPES. Libraries: walk.
@group(0) @binding(0) var<storage, read> tokens: array<u32>;          // see places
@group(0) @binding(1) var<uniform> shapes: array<Shape, SHAPES>;
@group(0) @binding(2) var<storage, read> automata: array<u32>;        // classes, needs, pushes, edges: packAutomaton
@group(0) @binding(3) var<storage, read> starts: array<u32>;          // (VOCAB_SIZE + 1) of each token's bytes | ENDS
@group(0) @binding(4) var<storage, read> bytes: array<u32>;           // all bytes, four in a word
@group(0) @binding(5) var<storage, read_write> places: array<u32>;    // (SHAPES, RING, 32)

@compute @workgroup_size(PLACE)
fn main(@builtin(local_invocation_id) lid: vec3u, @builtin(workgroup_id) wid: vec3u) {
  let token = wid.y + select(step.n_tokens - 1u, 0u, BATCHED);
  let slot = kv_slot(token);
  let position = position_of(token) + 1u;
  let id = tokens[token_at(token, 1u)];
  let word = lid.x;
  begin(slot, position);
  let before = places[at_place + word];
  var after = before;
  if (id < VOCAB_SIZE && shape.n_classes > 0u && !is_end(id) && walk(id)) {
    if (word == 0u) { after = state; }
    else if (word == 1u) { after = depth + n_own; }
    else if (word - 2u >= depth && word - 2u < depth + n_own) { after = own[word - 2u - depth]; }
  }
  places[place_at(slot, position + 1u) + word] = after;
}
