// The activations of a matvec in f32, those of the last token, read and arranged once by each workgroup. In memory the
// blocks of neighboring lanes are 128 bytes apart, and each read of 16 bytes a lane touches as many lines as there are
// lanes; here they are neighbors. Libraries: x_block, and in_order or weights/*_placed.
var<workgroup> x_quads: array<vec4<f32>, 8u * BLOCKS>;   // (8, BLOCKS)
var<workgroup> x_squares: array<f32, BLOCKS>;

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

fn load_x(block: u32) -> X {
  return X(
    Block(
      x_quads[block], x_quads[block + BLOCKS], x_quads[block + 2u * BLOCKS], x_quads[block + 3u * BLOCKS],
      x_quads[block + 4u * BLOCKS], x_quads[block + 5u * BLOCKS],
      x_quads[block + 6u * BLOCKS], x_quads[block + 7u * BLOCKS],
    ),
    x_squares[block],
  );
}
