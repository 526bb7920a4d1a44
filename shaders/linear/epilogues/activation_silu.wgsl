// The activation of a gate: SiLU (Elfwing et al. 2017).
fn activation(x: f32) -> f32 { return x / (1.0 + exp(-x)); }
