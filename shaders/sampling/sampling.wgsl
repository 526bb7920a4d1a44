// What a request asks of the sampler: the bytes of packSampling, 52 of them.
struct Sampling {
  temperature: f32, top_k: u32, top_p: f32, min_p: f32,
  repetition_penalty: f32, seed: u32, inverse_temperature: f32, log_min_p: f32,
  presence_penalty: f32, frequency_penalty: f32, answer_start: u32, n_biases: u32,
  n_logprobs: u32,
}
