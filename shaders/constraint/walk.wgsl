// The walk of one token through the automaton, from the place before it: byte to class to edge. An edge may push states
// to return to. Where a rule may end and has no edge, the walk returns, and the same byte is looked at again.
// The stack of the place is shared by all tokens: a walk counts how much of it is left, and keeps its own on top.
// Each slot has an automaton and places of its own. Where there are no classes, there is no constraint.
// Constants: VOCAB_SIZE, RING, SHAPES. The kernel binds shapes, automata, starts, bytes and places.
struct Shape { n_classes: u32, pushes_at: u32, edges_at: u32, most_needed: u32, @size(16) first: u32 }

const PLACE = 32u;              // words of a place: state, depth | DROPS, stack
const MAX_STACK = 30u;          // as in src/grammar/limits.ts
const DROPS = 0x80000000u;      // the first space of the next token is not part of the document
const ENDS = 0x80000000u;       // in `starts`: the token ends an answer
const ACCEPTS = 0x80u;          // in `needs`: the rule may end here
const NEEDS_AT = 64u;           // words of the classes before the needs
const PUSH_WORDS = 8u;
const NO_EDGE = 0xffffffffu;
const SPACE = 0x20u;

var<private> shape: Shape;
var<private> at_place: u32;                       // of the first word of the place
var<private> state: u32;
var<private> depth: u32;                          // what is left of the stack of the place
var<private> own: array<u32, MAX_STACK>;          // what the token pushed on top
var<private> n_own: u32;

fn place_at(slot: u32, position: u32) -> u32 { return PLACE * (slot * RING + position % RING); }

fn begin(slot: u32, position: u32) {
  shape = shapes[slot];
  at_place = place_at(slot, position);
  state = places[at_place];
  depth = min(places[at_place + 1u] & ~DROPS, MAX_STACK);
  n_own = 0u;
}

fn byte_at(i: u32) -> u32 { return extractBits(bytes[i / 4u], 8u * (i % 4u), 8u); }
fn class_of(byte: u32) -> u32 { return extractBits(automata[shape.first + byte / 4u], 8u * (byte % 4u), 8u); }
fn needs(one: u32) -> u32 {
  return extractBits(automata[shape.first + NEEDS_AT + one / 4u], 8u * (one % 4u), 8u);
}
fn accepts(one: u32) -> bool { return (needs(one) & ACCEPTS) != 0u; }

// Whether a state at this depth has the places of the stack that its rule needs to end.
fn can_end(one: u32, at: u32) -> bool { return at + (needs(one) & ~ACCEPTS) <= MAX_STACK; }

fn is_end(id: u32) -> bool { return (starts[id] & ENDS) != 0u; }

// Whether the document may end at the place: every rule under way may.
fn may_end() -> bool {
  var ends = accepts(state);
  for (var i = 0u; ends && i < depth; i++) { ends = accepts(places[at_place + 2u + i]); }
  return ends;
}

// Walks the bytes of a token. False: it has none, or one of them is refused.
fn walk(id: u32) -> bool {
  var i = starts[id] & ~ENDS;
  let end = starts[id + 1u] & ~ENDS;
  if (i >= end) { return false; }
  if ((places[at_place + 1u] & DROPS) != 0u && byte_at(i) == SPACE) { i++; }
  for (; i < end; i++) {
    if (!take(class_of(byte_at(i)))) { return false; }
  }
  return true;
}

fn take(class_: u32) -> bool {
  var edge = edge_of(class_);
  while (edge == NO_EDGE) {
    if (!accepts(state) || n_own + depth == 0u) { return false; }
    if (n_own > 0u) {
      n_own--;
      state = own[n_own];
    } else {
      depth--;
      state = places[at_place + 2u + depth];
    }
    edge = edge_of(class_);
  }
  return follow(edge);
}

fn edge_of(class_: u32) -> u32 { return automata[shape.edges_at + state * shape.n_classes + class_]; }

fn follow(edge: u32) -> bool {
  let row = shape.pushes_at + PUSH_WORDS * (edge >> 16u);
  let count = automata[row];
  // Far from the limit nothing can lack places. States below were checked when they were pushed.
  let deep = depth + n_own + count + shape.most_needed > MAX_STACK;
  for (var i = 0u; i < count; i++) {
    let pushed = automata[row + 1u + i];
    if (deep && (depth + n_own >= MAX_STACK || !can_end(pushed, depth + n_own))) { return false; }
    own[n_own] = pushed;
    n_own++;
  }
  state = edge & 0xffffu;
  return !deep || can_end(state, depth + n_own);
}
