// finish for epilogues that take a pair of rows on its own.
fn finish(first_row: u32, lid: u32) {
  for (var row = 2u * lid; row < ROWS_PER_WORKGROUP; row += 2u * WORKGROUP) {
    if (first_row + row < PART_ROWS) { emit(0u, ROW0 + first_row + row, y_pair(first_row, row)); }
  }
}
