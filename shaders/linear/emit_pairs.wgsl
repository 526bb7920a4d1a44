// finish for epilogues that take a pair of rows on its own: fetch(token, row) is what emit(token, row, y, fetched)
// needs from memory, on its way while the product is made. No workgroup has more pairs than threads.
var<private> fetched: vec2<f32>;

fn fetch_ahead(first_row: u32, lid: u32) { fetched = fetch(0u, ROW0 + min(first_row + 2u * lid, PART_ROWS - 1u)); }

fn finish(first_row: u32, lid: u32) {
  let row = 2u * lid;
  if (row < ROWS_PER_WORKGROUP && first_row + row < PART_ROWS) {
    emit(0u, ROW0 + first_row + row, y_pair(first_row, row), fetched);
  }
}
