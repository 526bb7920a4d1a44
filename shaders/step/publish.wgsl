// Leaves a word for the other workgroups.
fn publish(i: u32, payload: u32, tag: u32) { atomicStore(&words[i], (payload & 0xffffffu) | (tag << 24u)); }
