// What a workgroup and a thread of a prompt's attention have: BLOCK_M rows of a KV head, row r being token
// r / GQA_GROUP, head r % GQA_GROUP of the group.
// Constants: N_HEADS, GQA_GROUP, BLOCK_M; of the kernel TX and TY, with TX * TY threads.
struct RowBlock {
  first_row: u32,
  n_rows: u32,    // of the pass
  first_own: u32, // keys up to the first row's own
  last_own: u32,  // keys up to the last row's own
  all_see: u32,   // keys that no row of the block has to mask for being late
  n_keys: u32,    // keys that some row sees
}

// The blocks that see most keys start first, those of all KV heads, where a GPU starts workgroups in the order of x,
// then y.
fn block_of(group: u32) -> RowBlock {
  let n_rows = step.n_tokens * GQA_GROUP;
  let first_row = ((n_rows + BLOCK_M - 1) / BLOCK_M - 1 - group) * BLOCK_M;
  let last_row = min(first_row + BLOCK_M, n_rows) - 1;
  let first_own = step.position + first_row / GQA_GROUP + 1;
  let last_own = step.position + last_row / GQA_GROUP + 1;
  return RowBlock(first_row, n_rows, first_own, last_own, end_seen(first_own), end_seen(last_own));
}

// Where a row lies among the heads of all tokens.
fn row_of(row: u32, kv_head: u32) -> u32 {
  return row / GQA_GROUP * N_HEADS + kv_head * GQA_GROUP + row % GQA_GROUP;
}

// (tx, ty) of a thread. Where both sides allow, neighbors alternate between keys and rows (bits 0, 2, 4 and 1, 3 of the
// index): each half warp reads four words of 16 bytes of either side, in different banks, instead of eight and one.
fn place_of(lid: u32) -> vec2<u32> {
  if (TX % 8 != 0 || TY % 4 != 0) { return vec2(lid % TX, lid / TX); }
  let across = max(TX / 8, 1); // warps side by side
  let warp = lid / 32;
  let x = lid / 16 % 2 * 4 + lid / 4 % 2 * 2 + lid % 2;
  let y = lid / 8 % 2 * 2 + lid / 2 % 2;
  return vec2(warp % across * 8 + x, warp / across * 4 + y);
}
