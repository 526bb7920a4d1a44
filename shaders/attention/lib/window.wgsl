// first_seen(n): the first key that a query sees whose own is key n - 1: it sees the newest `window` of n keys (Mistral
// 7B, arXiv:2310.06825). end_seen(n): the end of the keys that it sees: n, or without CAUSAL as many again after its
// own, up to the end of the pass. Constants: CAUSAL; WINDOW_BINDING, behind all others.
@group(0) @binding(WINDOW_BINDING) var<uniform> window: u32; // 2^32 - 1 in a layer that sees all

fn first_seen(n: u32) -> u32 { return n - min(n, window); }
fn first_seen4(n: vec4<u32>) -> vec4<u32> { return n - min(n, vec4(window)); }
fn end_seen4(n: vec4<u32>) -> vec4<u32> {
  if (CAUSAL) { return n; }
  let n_keys = vec4(step.position + step.n_tokens);
  return min(n - 1 + min(vec4(window), n_keys), n_keys);
}
fn end_seen(n: u32) -> u32 { return end_seen4(vec4(n)).x; }
