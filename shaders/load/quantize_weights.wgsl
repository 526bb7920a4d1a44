// q8: d = max |x| / 127, q = x / d rounded half away from zero. q4: d = the x of largest magnitude / -8,
// q = min(15, floor(x / d + 8.5)). Bit for bit what src/cpu/quantize.ts makes, blocks with NaN or infinity included, on
// every GPU: quotients and halves are rounded in integers, since WGSL's own may be off by some units in the last place.
// One thread quantizes one block of 32 values of the file. Constants: BLOCKS (a row), FROM_F32, FROM_BF16 (else f16),
// TO_Q4 (else q8). Libraries: chunk_rows.
@group(0) @binding(2) var<storage, read_write> weights: array<u32>;             // (part_rows, BLOCKS, 4 in q4, 8 in q8)
@group(0) @binding(3) var<storage, read_write> scales: array<atomic<u32>>;  // (part_rows, BLOCKS) halves, zero at first

const PAYLOAD_WORDS = select(8u, 4u, TO_Q4);
const ZEROS = select(0u, 0x88888888u, TO_Q4);   // a payload word of eight or four zeros
const SMALLEST = 0x12800000u;                   // 2^-90: below, d is zero
const INFINITY = 0x7f800000u;
const HALF_NAN = 0x7e00u;

fn value(block: u32, j: u32) -> f32 {
  if (FROM_F32) { return bitcast<f32>(bytes[block * 32u + j]); }
  let pair = bytes[block * 16u + j / 2u];
  if (FROM_BF16) { return bitcast<f32>(select(pair << 16u, pair & 0xffff0000u, (j & 1u) == 1u)); }
  let halves = unpack2x16float(pair);
  return select(halves.x, halves.y, (j & 1u) == 1u);
}

// a / b, both positive, they and the quotient normal, rounded to nearest: long division of the fractions.
fn divide(a: u32, b: u32) -> u32 {
  let divisor = (b & 0x7fffffu) | 0x800000u;
  var rest = (a & 0x7fffffu) | 0x800000u;
  var exponent = 127u + (a >> 23u) - (b >> 23u);
  if (rest < divisor) {
    rest <<= 1u;
    exponent -= 1u;
  }
  var quotient = 0u;   // 24 bits, and one to round by
  for (var i = 0u; i < 25u; i++) {
    let bit = u32(rest >= divisor);
    quotient = (quotient << 1u) | bit;
    rest = (rest - bit * divisor) << 1u;
  }
  // No quotient of two floats lies halfway between two others. A carry belongs in the exponent.
  return (exponent << 23u) + (quotient >> 1u) - 0x800000u + (quotient & 1u);
}

// The nearest half, ties to even, of a positive f32: 65520 and above are infinite.
fn to_half(d: u32) -> u32 {
  if (d >= 0x47800000u) { return 0x7c00u; }
  let exponent = d >> 23u;
  let fraction = (d & 0x7fffffu) | 0x800000u;
  let normal = exponent >= 113u;
  let shift = select(126u - min(exponent, 126u), 13u, normal);
  if (shift > 24u) { return 0u; }
  let kept = fraction >> shift;
  let rest = fraction & ((1u << shift) - 1u);
  let middle = 1u << (shift - 1u);
  let up = u32(rest > middle) | (u32(rest == middle) & kept & 1u);
  return select(0u, (exponent - 113u) << 10u, normal) + kept + up;
}

// x / d as an integer: signed in q8, 0 .. 15 in q4.
fn quantized(x: f32, inverse: f32) -> u32 {
  // The product is rounded before anything is added to it: no compiler may fuse across a bit operation that it cannot
  // fold.
  let scaled = bitcast<f32>(bitcast<u32>(x * inverse) | chunk.zero);
  if (TO_Q4) { return min(15u, u32(scaled + 8.5)); }
  let whole = trunc(scaled);
  let away = select(0, select(-1, 1, scaled > 0.0), abs(scaled - whole) >= 0.5);
  return bitcast<u32>(i32(whole) + away) & 0xffu;
}

fn payload_word(block: u32, word: u32, inverse: f32) -> u32 {
  var packed = 0u;
  for (var byte = 0u; byte < 4u; byte++) {
    let j = word * 4u + byte;
    var q = quantized(value(block, j), inverse);
    if (TO_Q4) { q |= quantized(value(block, j + 16u), inverse) << 4u; }
    packed |= q << (8u * byte);
  }
  return packed;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let source = id.y * groups.x * 64u + id.x;
  let block = part_block(source);
  if (block == NOWHERE) { return; }
  var most = 0u;    // magnitude and sign of the first x of the largest magnitude; as integers, floats keep their order
  var sign = 0u;
  for (var j = 0u; j < 32u; j++) {
    let x = bitcast<u32>(value(source, j));
    if ((x & 0x7fffffffu) > most) {
      most = x & 0x7fffffffu;
      sign = x & 0x80000000u;
    }
  }
  // In q4 the scale has the other sign, that of a zero too.
  var half = select(0u, (sign >> 16u) ^ 0x8000u, TO_Q4);
  var inverse = 0.0;
  let flat = most < SMALLEST || most >= INFINITY;
  if (most >= INFINITY) { half = HALF_NAN; }
  if (!flat) {
    let d = select(divide(most, bitcast<u32>(127.0)), most - (3u << 23u), TO_Q4);
    half |= to_half(d);
    inverse = bitcast<f32>(divide(bitcast<u32>(1.0), d) | select(0u, sign ^ 0x80000000u, TO_Q4));
  }
  // Two blocks share a word of the scale plane: or-ing keeps the neighbor's half.
  atomicOr(&scales[block / 2u], half << (16u * (block & 1u)));
  for (var word = 0u; word < PAYLOAD_WORDS; word++) {
    var packed = ZEROS;
    if (!flat) { packed = payload_word(source, word, inverse); }
    weights[block * PAYLOAD_WORDS + word] = packed;
  }
}
