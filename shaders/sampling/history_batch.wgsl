// The ids of the conversations of a batch, for `penalties`. Constants: ROOM, the positions of a slot.
@group(0) @binding(3) var<storage, read> tokens: array<u32>;          // those of the last steps: see places
@group(0) @binding(4) var<storage, read_write> history: array<u32>;   // (slots, ROOM), by position

// The id at a position up to that of the token. Its own is in the history after this step: see keep_id.
fn id_at(token: u32, i: u32) -> u32 {
  if (i == position_of(token)) { return tokens[token_at(token, 0u)]; }
  return history[kv_slot(token) * ROOM + i];
}

// Called by one thread.
fn keep_id(token: u32) { history[kv_slot(token) * ROOM + position_of(token)] = tokens[token_at(token, 0u)]; }
