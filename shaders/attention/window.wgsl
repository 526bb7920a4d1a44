// first_seen(n): the first key that a query sees whose own is key n - 1: it sees the newest `window` of n keys (Mistral
// 7B, arXiv:2310.06825). end_seen(n): the end of the keys that it sees: n, or without CAUSAL as many again after its
// own, up to the end of the pass. Constants: CAUSAL; WINDOW_BINDING, behind all others.
//
// A layer keeps its newest `room` keys and values, those of position p in row p % room of each head. slot_of(key) is
// that row, of a key from the first on that enter_ring was told, and before it with room keys more.
struct Window {
  keys: u32, // 2^32 - 1 in a layer that sees all
  room: u32,
}
@group(0) @binding(WINDOW_BINDING) var<uniform> window: Window;
var<private> ring_start: u32;

fn kv_room() -> u32 { return window.room; }
fn enter_ring(first: u32) { ring_start = first - first % window.room; }
fn slot_of(key: u32) -> u32 {
  let slot = key - ring_start;
  return min(slot, slot - window.room);
}

fn first_seen(n: u32) -> u32 { return n - min(n, window.keys); }
fn first_seen4(n: vec4<u32>) -> vec4<u32> { return n - min(n, vec4(window.keys)); }
fn end_seen4(n: vec4<u32>) -> vec4<u32> {
  if (CAUSAL) { return n; }
  let n_keys = vec4(step.position + step.n_tokens);
  return min(n - 1 + min(vec4(window.keys), n_keys), n_keys);
}
fn end_seen(n: u32) -> u32 { return end_seen4(vec4(n)).x; }
