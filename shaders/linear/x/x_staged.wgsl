// The activations of a matvec in f32, in the memory of each workgroup, which reads them once. In the GPU's memory the
// blocks of neighboring lanes are 128 bytes apart, and each read of 16 bytes a lane touches as many lines as there are
// lanes; here they are neighbors. Libraries: x_block with stage_blocks, or x_parts with stage_parts.
var<workgroup> x_quads: array<vec4<f32>, 8u * BLOCKS>;   // (8, BLOCKS)
var<workgroup> x_squares: array<f32, BLOCKS>;            // of the values before the norm weight, when NORM

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
