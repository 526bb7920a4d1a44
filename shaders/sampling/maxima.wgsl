// maxima[r, g] = the largest key (logit_key) among logits[r, 32 g .. 32 g + 31]: 0 where all are -Infinity.
// One thread a group: its eight loads do not wait for each other. Constants: VOCAB_SIZE. Libraries: logit_key.
// Rows are padded to 16 bytes.
@group(0) @binding(0) var<storage, read> logits: array<vec4u>;        // (rows, VOCAB_SIZE) bits of f32
@group(0) @binding(1) var<storage, read_write> maxima: array<u32>;    // (rows, ceil(VOCAB_SIZE / 32))

const LOGIT_QUADS = (VOCAB_SIZE + 3u) / 4u;
const GROUPS = (VOCAB_SIZE + 31u) / 32u;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3u) {
  let group = gid.x;
  let first = gid.y * LOGIT_QUADS;   // of the row
  var quad = 8u * group;
  var a = load(first, quad);
  var b = load(first, quad + 1u);
  var c = load(first, quad + 2u);
  var d = load(first, quad + 3u);
  var e = load(first, quad + 4u);
  var f = load(first, quad + 5u);
  var g = load(first, quad + 6u);
  var h = load(first, quad + 7u);
  var most = vec4u(0u);
  // Turned around in registers: an index into registers is slow.
  for (; quad < 8u * group + 8u; quad++) {
    most = max(most, keys(a, 4u * quad));
    a = b; b = c; c = d; d = e; e = f; f = g; g = h;
  }
  if (group < GROUPS) { maxima[gid.y * ((GROUPS + 3u) / 4u * 4u) + group] = max(max(most.x, most.y), max(most.z, most.w)); }
}

fn load(first: u32, quad: u32) -> vec4u { return logits[first + min(quad, LOGIT_QUADS - 1u)]; }

// The keys of four logits; past the end 0.
fn keys(bits: vec4u, id: u32) -> vec4u {
  let keys = vec4u(key_of(bits.x), key_of(bits.y), key_of(bits.z), key_of(bits.w));
  return select(vec4u(0u), keys, vec4u(id) + vec4u(0u, 1u, 2u, 3u) < vec4u(VOCAB_SIZE));
}
