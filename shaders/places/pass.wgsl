// The places of a pass over one conversation: its tokens follow one another.
const BATCHED = false;

// Conversations whose keys and values a layer of the cache has.
const KV_SLOTS = 1u;

// The position of a token in its conversation.
fn position_of(token: u32) -> u32 { return step.position + token; }

// The cache of its conversation: there is one.
fn kv_slot(token: u32) -> u32 { return 0u; }

// Where its id lies, or after one more step the next one.
fn token_at(token: u32, steps: u32) -> u32 { return step.position + token + steps; }
