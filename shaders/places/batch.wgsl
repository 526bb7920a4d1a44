// The places of a step of several conversations, a token each: step.position counts the steps of all, modulo 2^32. Ids
// lie in a ring of TOKEN_RING steps, SLOTS each.
// Constants: ROWS_GROUP, SLOTS, KV_SLOTS (slots of the cache), TOKEN_RING (a power of two).
const BATCHED = true;

// Of each token: its slot, and its position less the number of the step.
@group(ROWS_GROUP) @binding(0) var<uniform> batch_rows: array<vec4<u32>, SLOTS>;

fn position_of(token: u32) -> u32 { return step.position + batch_rows[token].y; }

fn kv_slot(token: u32) -> u32 { return batch_rows[token].x; }

fn token_at(token: u32, steps: u32) -> u32 {
  return (step.position + steps) % TOKEN_RING * SLOTS + batch_rows[token].x;
}
