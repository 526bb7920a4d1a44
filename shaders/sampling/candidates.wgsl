// Reading for sample.wgsl: the maxima of all groups, the logits of few. Four 16-byte loads of a thread are on their way
// at once; what they bring is turned around in registers (x = y, y = z ...), since an index into registers is slow.
const GROUPS = (VOCAB_SIZE + 31u) / 32u;
const MAXIMA_QUADS = (GROUPS + 3u) / 4u;
const LOGIT_QUADS = (VOCAB_SIZE + 3u) / 4u;
const BATCH = 4u;
const ALL = 0xffffffffu;         // groups: not those of the list, but all
const NOWHERE = 0xfffffff0u;     // an id past any end

struct Quads { a: vec4u, b: vec4u, c: vec4u, d: vec4u }

// What is done with each group: becomes `mine` if it is the best; listed; weighed; raced.
const BEST = 0u;
const LIST_GROUP = 1u;
const WEIGH = 2u;
const RACE = 3u;

// Visits all groups, a thread's own in rising order.
fn scan_groups(what: u32, floor: u32) {
  for (var first = tid; first < MAXIMA_QUADS; first += BATCH * THREADS) {
    var q = Quads(maxima_quad(first), maxima_quad(first + THREADS), maxima_quad(first + 2u * THREADS),
      maxima_quad(first + 3u * THREADS));
    for (var i = 0u; i < 4u * BATCH; i++) {
      let group = 4u * (first + i / 4u * THREADS) + i % 4u;
      if (group < GROUPS) { visit_group(what, floor, q.a.x, group); }
      q.a = q.a.yzwx;
      if (i % 4u == 3u) { q = Quads(q.b, q.c, q.d, q.d); }
    }
  }
}

fn maxima_quad(quad: u32) -> vec4u { return maxima[logits_row * MAXIMA_QUADS + min(quad, MAXIMA_QUADS - 1u)]; }

fn visit_group(what: u32, floor: u32, key: u32, group: u32) {
  if (what == BEST) {
    if (key > mine.x) { mine = vec2u(key, group); }
  } else if (key >= floor) {
    if (what == RACE) {
      race(key, group, floor);
    } else if (what == WEIGH) {
      sum.x += weight(key, 0x1p16f);
    } else {
      let slot = atomicAdd(&counter[0], 1u);
      if (slot < LIST_SIZE) { list_group[slot] = group; }
    }
  }
}

// Lists the groups with a key >= floor; returns how many there are, which may be more than fit.
fn list_groups(floor: u32) -> u32 {
  start_count();
  scan_groups(LIST_GROUP, floor);
  return counted();
}

fn start_count() {
  if (tid == 0u) { atomicStore(&counter[0], 0u); }
  workgroupBarrier();
}

fn counted() -> u32 {
  workgroupBarrier();
  if (tid == 0u) { agreed.x = atomicLoad(&counter[0]); }
  return workgroupUniformLoad(&agreed).x;
}

// What is done with each key >= floor: listed; its weight added to `sum`, or to the bin of its digit.
struct Visit { what: u32, floor: u32, unit: f32, prefix: u32, mask: u32, shift: u32 }
const LIST = 0u;
const SUM = 1u;
const BIN = 2u;

var<private> sum: vec2u;         // sum.y * 2^20 + sum.x

// Visits the logits of the first `groups` of the list, or ALL.
fn scan_logits(v: Visit, groups: u32) {
  var n_quads = LOGIT_QUADS;
  if (groups != ALL) { n_quads = 8u * groups; }
  for (var first = tid; first < n_quads; first += BATCH * THREADS) {
    var ids = vec4u(first, first + THREADS, first + 2u * THREADS, first + 3u * THREADS);
    ids = vec4u(first_id(ids.x, n_quads, groups), first_id(ids.y, n_quads, groups), first_id(ids.z, n_quads, groups),
      first_id(ids.w, n_quads, groups));
    var q = Quads(logit_quad(ids.x), logit_quad(ids.y), logit_quad(ids.z), logit_quad(ids.w));
    for (var i = 0u; i < 4u * BATCH; i++) {
      let id = ids.x + i % 4u;
      if (id < VOCAB_SIZE) {
        let key = key_of(q.a.x);
        if (key >= v.floor) { visit_logit(v, key, id); }
      }
      q.a = q.a.yzwx;
      if (i % 4u == 3u) {
        q = Quads(q.b, q.c, q.d, q.d);
        ids = ids.yzww;
      }
    }
  }
}

fn first_id(quad: u32, n_quads: u32, groups: u32) -> u32 {
  if (quad >= n_quads) { return NOWHERE; }
  if (groups == ALL) { return 4u * quad; }
  return 32u * list_group[quad / 8u] + 4u * (quad % 8u);
}

fn logit_quad(id: u32) -> vec4u { return logits[logits_row * LOGIT_QUADS + min(id / 4u, LOGIT_QUADS - 1u)]; }

fn visit_logit(v: Visit, key: u32, id: u32) {
  if (v.what == LIST) {
    let slot = atomicAdd(&counter[0], 1u);
    if (slot < LIST_SIZE) {
      list[slot].x = key;
      list_id[slot] = id;
    }
  } else if ((key & v.mask) == v.prefix) {
    let w = weight(key, v.unit);
    if (v.what == SUM) {
      sum += vec2u(w & 0xfffffu, w >> 20u);
    } else if (w > 0u) {
      atomicAdd(&bins[(key >> v.shift) & 255u], w);
    }
  }
}

// Lists every key >= floor of the listed groups; returns how many there are, which may be more than fit.
fn build_list(floor: u32, groups: u32) -> u32 {
  start_count();
  scan_logits(Visit(LIST, floor, 0.0, 0u, 0u, 0u), groups);
  return counted();
}
