// prepare_x of x_staged for parts of attention, a quad for each thread. Libraries: x_parts.
struct X { values: Block, square: f32 }

fn prepare_x(lid: u32) {
  for (var i = lid; i < 8u * BLOCKS; i += WORKGROUP) { x_quads[i / 8u + i % 8u * BLOCKS] = x_quad(i); }
  workgroupBarrier();
}
