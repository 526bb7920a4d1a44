// Sampling parameters and their bytes for the sampling kernels.
// Does not sample: see shaders/sampling/sample.wgsl, and src/cpu/sample.ts for the CPU.

export interface SamplingParams {
  /** 0 is greedy. */
  temperature: number;
  /** Keep the k most probable tokens; 0 turns it off. */
  topK: number;
  /** Keep the most probable tokens that hold this much probability; 1 turns it off. */
  topP: number;
  /** Keep tokens at least this probable relative to the best; 0 turns it off. */
  minP: number;
  /** Divide (or multiply) the logits of tokens seen before; 1 turns it off. */
  repetitionPenalty: number;
  /** Subtract this from the logits of tokens in the answer; 0 turns it off. */
  presencePenalty: number;
  /** Subtract this for each time that a token is in the answer; 0 turns it off. */
  frequencyPenalty: number;
  /** u32; the same seed gives the same text. */
  seed: number;
  /** The position of the answer's first token. */
  answerStart: number;
  /** At most MAX_BIASES, each for another token. */
  biases: readonly LogitBias[];
  /** Report the log probability of each token, and of so many of the likeliest. Null: report none. */
  logprobs: number | null;
}

/** True where what has come before changes logits. */
export function penalizes({ repetitionPenalty, presencePenalty, frequencyPenalty }: SamplingParams): boolean {
  return repetitionPenalty !== 1 || presencePenalty !== 0 || frequencyPenalty !== 0;
}

/** A number added to the logit of a token, which cannot be drawn for positions below `forbiddenUntil`. */
export interface LogitBias {
  id: number;
  bias: number;
  /** u32; the largest one means that the token never comes. */
  forbiddenUntil: number;
}

/** Most biases: as many as a request may give, and as many tokens that end an answer. */
export const MAX_BIASES = 2048;

/** A `forbiddenUntil` past every position. */
export const ALWAYS = 0xffffffff;

/**
 * Stands for a token where a logit is NaN or infinite, none is finite, or all are equal. The same number as in
 * src/cpu/sample.ts.
 */
export const NO_TOKEN = 0xffffffff;

/** Stands for a token where a fused step gave up waiting, and in all steps behind it. The step can be repeated. */
export const GAVE_UP = 0xfffffffe;

/** Bytes of `struct Sampling` in the kernels. */
export const SAMPLING_BYTES = 52;

/**
 * `struct Sampling { temperature: f32, top_k: u32, top_p: f32, min_p: f32, repetition_penalty: f32, seed: u32,
 * inverse_temperature: f32, log_min_p: f32, presence_penalty: f32, frequency_penalty: f32, answer_start: u32,
 * n_biases: u32, n_logprobs: u32 }`. inverse_temperature and log_min_p save the shader a division and a logarithm,
 * whose accuracy WGSL leaves to the GPU. Instead of an infinity they are 0 (greedy, hence unused) and the lowest f32.
 */
export function packSampling(params: SamplingParams): ArrayBuffer {
  const buffer = new ArrayBuffer(SAMPLING_BYTES);
  const view = new DataView(buffer);
  view.setFloat32(0, params.temperature, true);
  view.setUint32(4, params.topK, true);
  view.setFloat32(8, params.topP, true);
  view.setFloat32(12, params.minP, true);
  view.setFloat32(16, params.repetitionPenalty, true);
  view.setUint32(20, params.seed, true);
  view.setFloat32(24, params.temperature === 0 ? 0 : 1 / params.temperature, true);
  view.setFloat32(28, Math.max(Math.log(params.minP), LOWEST_F32), true);
  view.setFloat32(32, params.presencePenalty, true);
  view.setFloat32(36, params.frequencyPenalty, true);
  view.setUint32(40, params.answerStart, true);
  view.setUint32(44, params.biases.length, true);
  view.setUint32(48, params.logprobs ?? 0, true);
  return buffer;
}

/** Bytes of `struct Bias` in the kernel: { id: u32, bias: f32, forbidden_until: u32 }. */
const BIAS_BYTES = 12;

/** Bytes of the buffer of biases. */
export const BIASES_BYTES = BIAS_BYTES * MAX_BIASES;

export function packBiases(biases: readonly LogitBias[]): ArrayBuffer {
  const buffer = new ArrayBuffer(BIAS_BYTES * biases.length);
  const view = new DataView(buffer);
  for (const [i, { id, bias, forbiddenUntil }] of biases.entries()) {
    view.setUint32(BIAS_BYTES * i, id, true);
    view.setFloat32(BIAS_BYTES * i + 4, bias, true);
    view.setUint32(BIAS_BYTES * i + 8, forbiddenUntil, true);
  }
  return buffer;
}

const LOWEST_F32 = -3.4028234663852886e38;
