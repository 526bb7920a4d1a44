// Thresholds for sample.wgsl: the smallest key such that the keys as large hold a goal, in count or in weight.
// Two ways: among the few candidates of a list by comparing all pairs; among all logits by radix select, four passes of
// eight bits. Sums are sums of integers, so no order of threads changes a result.
// Gives each key >= floor of the list its weight, the others none; returns the sum.
fn weigh_list(n: u32, floor: u32, unit: f32) -> u32 {
  var mass = 0u;
  for (var i = tid; i < n; i += THREADS) {
    let key = list[i].x;
    let w = select(0u, weight(key, unit), key >= floor);
    list[i].y = w;
    mass += w;
  }
  return reduce_sum(vec2u(mass, 0u)).x;
}

// The smallest key of the list with less than `goal` above it: what is as large weighs `goal` or more.
fn list_threshold(n: u32, goal: u32) -> u32 {
  if (tid == 0u) { atomicStore(&counter[0], 0xffffffffu); }
  workgroupBarrier();
  for (var i = tid; i < n; i += THREADS) {
    let key = list[i].x;
    var above = 0u;
    for (var j = 0u; j < n; j++) {
      let other = list[j];
      above += select(0u, other.y, other.x > key);
    }
    if (above < goal) { atomicMin(&counter[0], key); }
  }
  return counted();
}

// The same among all logits with key >= floor; 0 if they weigh less than `goal` together.
fn radix_threshold(floor: u32, unit: f32, goal: u32) -> u32 {
  var prefix = 0u;     // the digits found so far
  var mask = 0u;
  var rest = goal;     // what is still to be weighed at this prefix
  for (var digit = 0u; digit < 4u; digit++) {
    let shift = 24u - 8u * digit;
    atomicStore(&bins[tid], 0u);
    workgroupBarrier();
    scan_logits(Visit(BIN, floor, unit, prefix, mask, shift), ALL);
    workgroupBarrier();
    var above = 0u;
    for (var bin = tid + 1u; bin < THREADS; bin++) { above += atomicLoad(&bins[bin]); }
    let all = above + atomicLoad(&bins[tid]);
    if (all >= rest && above < rest) { agreed = vec2u(tid, rest - above); }
    if (tid == 0u && all < rest) { agreed = vec2u(0u, rest); }
    let found = workgroupUniformLoad(&agreed);
    prefix |= found.x << shift;
    mask |= 255u << shift;
    rest = found.y;
  }
  return prefix;
}

// The probability of all logits with key >= floor, relative to the best: exact to 2^-32 each, and summed as integers.
// A thread has 2^12 logits at most (a vocabulary of 2^20), so that neither half of its sum leaves its word.
fn mass(floor: u32) -> f32 {
  sum = vec2u(0u, 0u);
  scan_logits(Visit(SUM, floor, 0x1p31f, 0u, 0u, 0u), ALL);
  let total = reduce_sum(vec2u(sum.x & 0xfffffu, sum.y + (sum.x >> 20u)));
  return (f32(total.y) + f32(total.x) * 0x1p-20f) * 0x1p-11f;
}
