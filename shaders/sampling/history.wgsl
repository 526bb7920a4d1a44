// The ids of the conversation of a pass, for `penalties`.
@group(0) @binding(3) var<storage, read> tokens: array<u32>;   // (context), by position

// The id at a position up to that of the token.
fn id_at(token: u32, i: u32) -> u32 { return tokens[i]; }

// Here every pass has kept its ids.
fn keep_id(token: u32) {}
