// prepare_x of x_staged for the last token, a block for each thread, arranged as the product takes it. Libraries:
// x_block, and in_order or weights/*_placed.
fn prepare_x(lid: u32) {
  for (var i = lid; i < BLOCKS; i += WORKGROUP) {
    let x = x_block(step.n_tokens - 1u, i);
    let v = arranged(x.values);
    x_quads[i] = v.a;
    x_quads[i + BLOCKS] = v.b;
    x_quads[i + 2u * BLOCKS] = v.c;
    x_quads[i + 3u * BLOCKS] = v.d;
    x_quads[i + 4u * BLOCKS] = v.e;
    x_quads[i + 5u * BLOCKS] = v.f;
    x_quads[i + 6u * BLOCKS] = v.g;
    x_quads[i + 7u * BLOCKS] = v.h;
    x_squares[i] = x.square;
  }
  workgroupBarrier();
}
