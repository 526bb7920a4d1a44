// For models that leave scores as they are.
fn softcap4(t: vec4<f32>) -> vec4<f32> { return t; }
fn softcap(t: f32) -> f32 { return t; }
