// Eight neighboring values of a key or value as they are stored: eight halves in four words.
alias KvOct = vec4<u32>;
fn kv_oct(x: KvOct) -> Oct {
  return Oct(
    vec4(unpack2x16float(x.x), unpack2x16float(x.y)),
    vec4(unpack2x16float(x.z), unpack2x16float(x.w)),
  );
}
