// A linear layer of one token.

/**
 * y = x Wᵀ + b, for one row x.
 *
 * x: (n_in); weight: (n_out, n_in), row-major, as in torch.nn.Linear; bias: (n_out) or null; result: (n_out).
 * The four sums are independent, so that the processor need not wait for one addition before the next.
 */
export function linear(x: Float32Array, weight: Float32Array, bias: Float32Array | null): Float32Array {
  const nIn = x.length;
  const nOut = weight.length / nIn;
  if (!Number.isInteger(nOut)) {
    throw new RangeError(`linear: a weight of ${weight.length} numbers has no whole rows of ${nIn}.`);
  }
  if (bias !== null && bias.length !== nOut) {
    throw new RangeError(`linear: the bias has ${bias.length} numbers, the weight has ${nOut} rows.`);
  }
  const y = new Float32Array(nOut);
  const x64 = Float64Array.from(x); // every row reads x again: widen it once
  const tail = nIn - (nIn % 4);
  for (let o = 0; o < nOut; o++) {
    const w = weight.subarray(o * nIn, (o + 1) * nIn);
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    for (let i = 0; i < tail; i += 4) {
      s0 += x64[i] * w[i];
      s1 += x64[i + 1] * w[i + 1];
      s2 += x64[i + 2] * w[i + 2];
      s3 += x64[i + 3] * w[i + 3];
    }
    for (let i = tail; i < nIn; i++) s0 += x64[i] * w[i];
    y[o] = s0 + s1 + s2 + s3 + (bias === null ? 0 : bias[o]);
  }
  return y;
}
