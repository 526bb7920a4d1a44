// o = sum_j softmax_j(score) v_j over scores that arrive in tiles (Milakov and Gimelshein 2018, arXiv:1805.02867).
//   m      running max of the scores
//   l      running sum of p = exp2(score - m)
//   o      running sum of p * v, kept by the kernel; the answer is o / l
//   alpha  exp2(m - m_new): rescales l and o when a tile raises the max
// Scores carry the factor log2(e), so exp2 stands for exp.

// Where m starts: finite, since -inf - -inf is NaN. A masked score lies below it, so that its p is exp2(-1e30) = 0 even
// in a tile that masks everything, and such a tile leaves the state as it was.
const M_START = -1e30;
const MASKED = -2e30;

// p of a score under the running max m; and alpha, which is p of the old max under the new one.
fn softmax_p(score: f32, m: f32) -> f32 { return exp2(score - m); }
fn softmax_p4(score: vec4<f32>, m: vec4<f32>) -> vec4<f32> { return exp2(score - m); }

// The state of a set of keys. Disjoint sets add up once each is rescaled by softmax_p(its m, the larger m).
struct SoftmaxState { m: f32, l: f32 }
