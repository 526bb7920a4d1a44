// One scale a block of weights, for matmul_q8.wgsl: w = d q.
alias XScale = f32;
alias XScales = vec4<f32>;   // of four tokens

fn x_scale(x: XQuants) -> XScale { return x.d; }

fn x_scales(a: XScale, b: XScale, c: XScale, d: XScale) -> XScales { return vec4(a, b, c, d); }

fn products(w: Quants, x: Tokens) -> vec4<f32> { return w.d * x.d * vec4<f32>(dots(w, x)); }
