// Thresholds for kernels/sample.wgsl: the smallest key such that the keys as large hold a goal, in count or in weight.
// Two ways: among the few candidates of a list by comparing all pairs; among all logits by radix select, four passes of
// eight bits. Sums are sums of integers, so no order of threads changes a result.
// Lists every key >= floor; returns how many there are, which may be more than fit.
fn build_list(floor: u32) -> u32 {
  if (tid == 0u) { atomicStore(&counter, 0u); }
  workgroupBarrier();
  for (var first = 0u; first < VOCAB_SIZE; first += BATCH * THREADS) {
    var keys = load_batch(first);
    for (var j = 0u; j < BATCH; j++) {
      if (keys[j] >= floor) {
        let slot = atomicAdd(&counter, 1u);
        if (slot < LIST_SIZE) {
          list_key[slot] = keys[j];
          list_id[slot] = first + j * THREADS + tid;
        }
      }
    }
  }
  workgroupBarrier();
  if (tid == 0u) { agreed.x = atomicLoad(&counter); }
  return workgroupUniformLoad(&agreed).x;
}

// Gives each key >= floor of the list its weight, the others none; returns the sum.
fn weigh_list(n: u32, floor: u32, unit: f32) -> u32 {
  var sum = 0u;
  for (var i = tid; i < n; i += THREADS) {
    list_weight[i] = select(0u, weight(list_key[i], unit), list_key[i] >= floor);
    sum += list_weight[i];
  }
  return reduce_sum(sum);
}

// The smallest key of the list with less than `goal` above it: what is as large weighs `goal` or more.
fn list_threshold(n: u32, goal: u32) -> u32 {
  if (tid == 0u) { atomicStore(&counter, 0xffffffffu); }
  workgroupBarrier();
  for (var i = tid; i < n; i += THREADS) {
    let key = list_key[i];
    var above = 0u;
    for (var j = 0u; j < n; j++) { above += select(0u, list_weight[j], list_key[j] > key); }
    if (above < goal) { atomicMin(&counter, key); }
  }
  workgroupBarrier();
  if (tid == 0u) { agreed.x = atomicLoad(&counter); }
  return workgroupUniformLoad(&agreed).x;
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
    for (var id = tid; id < VOCAB_SIZE; id += THREADS) {
      let key = key_at(id);
      if (key >= floor && (key & mask) == prefix) {
        let w = weight(key, unit);
        if (w > 0u) { atomicAdd(&bins[(key >> shift) & 255u], w); }
      }
    }
    workgroupBarrier();
    var above = 0u;
    for (var bin = tid + 1u; bin < THREADS; bin++) { above += atomicLoad(&bins[bin]); }
    let sum = above + atomicLoad(&bins[tid]);
    if (sum >= rest && above < rest) { agreed = vec2u(tid, rest - above); }
    if (tid == 0u && sum < rest) { agreed = vec2u(0u, rest); }
    let found = workgroupUniformLoad(&agreed);
    prefix |= found.x << shift;
    mask |= 255u << shift;
    rest = found.y;
  }
  return prefix;
}

// The weight of all logits with key >= floor.
fn total_weight(floor: u32, unit: f32) -> u32 {
  var sum = 0u;
  for (var first = 0u; first < VOCAB_SIZE; first += BATCH * THREADS) {
    var keys = load_batch(first);
    for (var j = 0u; j < BATCH; j++) {
      if (keys[j] >= floor) { sum += weight(keys[j], unit); }
    }
  }
  return reduce_sum(sum);
}

// Fixed point such that all keys >= floor weigh at most 2^31 together, and not much less. A first, coarse sum bounds them:
// each addend has half of a coarse step too much at most, or too little.
fn fine_unit(floor: u32) -> f32 {
  let coarse = f32(0x40000000u / VOCAB_SIZE);
  return 2147483648.0 / ((f32(total_weight(floor, coarse)) + 0.5 * f32(VOCAB_SIZE)) / coarse);
}
