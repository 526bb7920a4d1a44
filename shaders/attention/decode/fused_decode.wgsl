// o[t, h, :] = sum_j softmax_j(softcap(scale q[t, h, :] . k[j, :])) v[j, :]
// over first_seen(n) <= j < end_seen(n), n = position_of(t) + 1
//
// One workgroup: one KV head (x), one token (y), HEADS query heads of its group (z), all keys that it sees (see
// decode_tiles).
@group(0) @binding(3) var<storage, read_write> out: array<f32>; // (n_tokens, N_HEADS, HEAD_DIM)

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let own = position_of(wid.y) + 1;
  attend(Work(wid.x, wid.y, wid.z, 0, first_seen(own), end_seen(own)), lid);
}

fn emit(work: Work, h: u32, d: u32, o: Heads, l: Heads) {
  for (var j = 0u; j < 4; j++) {
    if (is_live(work, 4 * h + j)) { out[(work.token * N_HEADS + query_head(work, 4 * h + j)) * HEAD_DIM + d] = o[j] / l[j]; }
  }
}

fn leave(work: Work, h: u32, m: Heads, l: Heads) {}
