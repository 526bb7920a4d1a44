// A block of activations in f32, times the norm weight when NORM. square: of the values before.
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;    // (n_tokens, COLS / 4)

struct X { values: Block, square: f32 }

fn x_block(token: u32, block: u32) -> X {
  let i = block * 8u;
  let x0 = token * (COLS / 4u) + i;
  let v = Block(x[x0], x[x0 + 1u], x[x0 + 2u], x[x0 + 3u], x[x0 + 4u], x[x0 + 5u], x[x0 + 6u], x[x0 + 7u]);
  if (!NORM) { return X(v, 0.0); }
  return X(
    Block(
      v.a * norm_quad(i), v.b * norm_quad(i + 1u), v.c * norm_quad(i + 2u), v.d * norm_quad(i + 3u),
      v.e * norm_quad(i + 4u), v.f * norm_quad(i + 5u), v.g * norm_quad(i + 6u), v.h * norm_quad(i + 7u),
    ),
    block_dot(v, v),
  );
}
