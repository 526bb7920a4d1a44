// attend(work, lid): m, l and o of HEADS query heads for one token over a range of keys, by lanes of subgroups (see
// lanes). The kernel behind this library defines leave and emit.
// Constants: those of lanes; N_HEADS, N_KV_HEADS, GQA_GROUP, Q_SCALE.
@group(0) @binding(0) var<storage, read> q: array<f32>;           // (n_tokens, N_HEADS, HEAD_DIM)
@group(0) @binding(1) var<storage, read> k_cache: array<KvCell>;  // (KV_SLOTS, N_KV_HEADS, kv_room(), CELLS)
@group(0) @binding(2) var<storage, read> v_cache: array<KvOct>;   // (KV_SLOTS, N_KV_HEADS, kv_room(), OCTS)

const OWN_KEY = false;
const HEAD_SLICES = (GQA_GROUP + HEADS - 1) / HEADS; // workgroups that share a KV head's group

// The work of one workgroup: keys `begin` to `end`, which are split `split` of all.
struct Work { kv_head: u32, token: u32, head_slice: u32, split: u32, begin: u32, end: u32 }

var<workgroup> columns: array<Heads, WORKGROUP>;

fn put_column(i: u32, x: Heads) { columns[i] = x; }
fn column_at(i: u32) -> Heads { return columns[i]; }
fn settled(m: Heads) -> Heads { return m; }
fn complete(keys: ptr<function, Keys>, values: ptr<function, Values>, lid: u32) {}

// Query head h of the workgroup's, and whether the group has it: the last slice may hold fewer heads than HEADS.
fn query_head(work: Work, h: u32) -> u32 { return work.kv_head * GQA_GROUP + work.head_slice * HEADS + h; }
fn is_live(work: Work, h: u32) -> bool { return h < min(HEADS, GQA_GROUP - work.head_slice * HEADS); }

fn q_quad(work: Work, head: u32, quad: u32) -> vec4<f32> {
  if (!is_live(work, head) || quad >= HEAD_DIM / 4) { return vec4(0.0); }
  let at = (work.token * N_HEADS + query_head(work, head)) * HEAD_DIM + 4 * quad;
  return vec4(q[at], q[at + 1], q[at + 2], q[at + 3]) * Q_SCALE;
}

fn attend(work: Work, lid: u32) {
  enter_ring(work.begin);
  let row = (kv_slot(work.token) * N_KV_HEADS + work.kv_head) * kv_room();
  let span = Span(work.begin, work.end, work.end - 1, row * CELLS, row * OCTS, row);
  let start = first_key(span, lid);
  let keys = load_keys(span, start, lid % SUBGROUP);
  let values = load_values(span, start, lid % SUBGROUP);
  load_q(work, lid);
  attend_span(work, span, keys, values, lid);
}
