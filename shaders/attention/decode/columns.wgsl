// Four query heads at once, HEAD_QUADS times, and o of them at eight columns. Constants: HEADS. Libraries: kv_*.
const HEAD_QUADS = (HEADS + 3) / 4;

// Of four heads: the scores of a key, or one number each.
alias Heads = vec4<f32>;
alias Scores = array<Heads, HEAD_QUADS>;
// The eight columns have names: an array that is indexed in a loop may land in memory.
struct Columns { c0: Heads, c1: Heads, c2: Heads, c3: Heads, c4: Heads, c5: Heads, c6: Heads, c7: Heads }

fn scaled(o: Columns, by: Heads) -> Columns {
  return Columns(o.c0 * by, o.c1 * by, o.c2 * by, o.c3 * by, o.c4 * by, o.c5 * by, o.c6 * by, o.c7 * by);
}

fn plus(o: Columns, p: Heads, v: Oct) -> Columns {
  return Columns(
    o.c0 + p * v.a.x, o.c1 + p * v.a.y, o.c2 + p * v.a.z, o.c3 + p * v.a.w,
    o.c4 + p * v.b.x, o.c5 + p * v.b.y, o.c6 + p * v.b.z, o.c7 + p * v.b.w,
  );
}
