// What the request asks of the sampler. Libraries: sampling.
@group(0) @binding(2) var<uniform> sampling: Sampling;

fn asked_of(row: u32) -> Sampling { return sampling; }
