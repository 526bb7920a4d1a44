// prepare_x for any device: one thread quantizes a whole block.
fn prepare_x(lid: u32) {
  for (var block = lid; block < BLOCKS; block += WORKGROUP) {
    let i = block * 8u;
    var v = Block(
      x_quad(i), x_quad(i + 1u), x_quad(i + 2u), x_quad(i + 3u),
      x_quad(i + 4u), x_quad(i + 5u), x_quad(i + 6u), x_quad(i + 7u),
    );
    var square = 0.0;
    if (NORM) {
      square = block_dot(v, v);
      v = Block(
        v.a * norm_quad(i), v.b * norm_quad(i + 1u), v.c * norm_quad(i + 2u), v.d * norm_quad(i + 3u),
        v.e * norm_quad(i + 4u), v.f * norm_quad(i + 5u), v.g * norm_quad(i + 6u), v.h * norm_quad(i + 7u),
      );
    }
    let low = max(max(magnitudes(v.a), magnitudes(v.b)), max(magnitudes(v.c), magnitudes(v.d)));
    let high = max(max(magnitudes(v.e), magnitudes(v.f)), max(magnitudes(v.g), magnitudes(v.h)));
    let d = block_d(largest(max(low, high)));
    x_low[block] = vec4(quantize_quad(v.a, d.y), quantize_quad(v.b, d.y), quantize_quad(v.c, d.y), quantize_quad(v.d, d.y));
    x_high[block] = vec4(quantize_quad(v.e, d.y), quantize_quad(v.f, d.y), quantize_quad(v.g, d.y), quantize_quad(v.h, d.y));
    x_d[block] = vec2(d.x, square);
  }
  workgroupBarrier();
}
