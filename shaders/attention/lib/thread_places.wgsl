// Constants of the kernel: TX, TY.
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
