// The four lowest bits, one to the bottom of each byte.
fn spread_bits(bits: u32) -> u32 {
  return (bits & 1u) | ((bits & 2u) << 7u) | ((bits & 4u) << 14u) | ((bits & 8u) << 21u);
}
