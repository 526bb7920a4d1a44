// logits[r, id] = -Infinity for each token that the document, at its place before the new token, refuses.
// maxima[r, g] = the largest key (logit_key) among logits[r, 32 g .. 32 g + 31], as the head leaves them.
// The row r is that of the last token of a pass, or of each of a batch. Rows are padded to 16 bytes.
// One thread walks one token; the first byte refuses most. A token that ends an answer is refused where the document
// may not end. A logit that is NaN or +Infinity stays: it tells of a model that computes nonsense.
// Constants: VOCAB_SIZE, RING, SHAPES. Libraries: logit_key, walk.
@group(0) @binding(0) var<storage, read_write> logits: array<u32>;  // (rows, VOCAB_SIZE) bits of f32
@group(0) @binding(1) var<storage, read_write> maxima: array<u32>;  // (rows, ceil(VOCAB_SIZE / 32))
@group(0) @binding(2) var<uniform> shapes: array<Shape, SHAPES>;
@group(0) @binding(3) var<storage, read> automata: array<u32>;      // classes, needs, pushes, edges: packAutomaton
@group(0) @binding(4) var<storage, read> starts: array<u32>;        // (VOCAB_SIZE + 1) of each token's bytes | ENDS
@group(0) @binding(5) var<storage, read> bytes: array<u32>;         // all bytes, four in a word
@group(0) @binding(6) var<storage, read> places: array<u32>;        // (SHAPES, RING, 32)

const THREADS = 256u;
const GROUP = 32u;    // logits that share a maximum
const LOGITS = (VOCAB_SIZE + 3u) / 4u * 4u;
const MAXIMA = ((VOCAB_SIZE + 31u) / 32u + 3u) / 4u * 4u;
const MINUS_INFINITY = 0xff800000u;

var<workgroup> most: array<atomic<u32>, THREADS / GROUP>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) gid: vec3u, @builtin(local_invocation_id) lid: vec3u) {
  let id = gid.x;
  let at = gid.y * LOGITS + id;
  if (lid.x < THREADS / GROUP) { atomicStore(&most[lid.x], 0u); }
  workgroupBarrier();
  if (id < VOCAB_SIZE) {
    var bits = logits[at];
    if ((bits & 0x7f800000u) != 0x7f800000u && !allowed(gid.y, id)) {
      bits = MINUS_INFINITY;
      logits[at] = bits;
    }
    atomicMax(&most[lid.x / GROUP], key_of(bits));
  }
  workgroupBarrier();
  if (id % GROUP == 0u && id < VOCAB_SIZE) {
    maxima[gid.y * MAXIMA + id / GROUP] = atomicLoad(&most[lid.x / GROUP]);
  }
}

fn allowed(row: u32, id: u32) -> bool {
  let token = row + select(step.n_tokens - 1u, 0u, BATCHED);
  begin(kv_slot(token), position_of(token) + 1u);
  if (shape.n_classes == 0u) { return true; }
  if (is_end(id)) { return may_end(); }
  return walk(id);
}
