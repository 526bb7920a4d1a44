// The end of a matmul_q8 whose epilogue takes each pair of rows on its own.
fn finish_tokens(first_token: u32, first_row: u32, thread: u32) {}
