// The texts of the panel's figures in English: labels, definitions, and the sentences below a group. Each group has its
// title; each figure its label and its definition.

const gap = (n: number) => `${n} of 100 gaps between tokens are no longer.`;
const step = 'The GPU’s own time for one step, from its timestamps, without waiting and transfer.';
const before = (what: string) => `Before the first answer: ${what} It is no part of TTFT.`;

export const figures = {
  titles: {
    timing: 'Timing',
    first: 'Time to first token',
    gpu: 'On the GPU',
    step: 'Decode step',
    perToken: 'Per token',
    memory: 'GPU memory',
    machine: 'Model and machine',
  },
  percentiles: { p50: 'p50', p95: 'p95', p99: 'p99', max: 'max' },
  gaps: {
    p50: 'Half of the gaps between tokens are no longer.',
    p95: gap(95),
    p99: gap(99),
    max: 'The longest gap between two tokens of this run.',
  },
  steps: { p50: step, p95: step, p99: step, max: step },
  stepOf: (percentile: string) => `Step ${percentile}`,
  gapCount: (n: number) => `n = ${n} ${n === 1 ? 'gap' : 'gaps'}.`,
  stepCount: (n: number) => `n = ${n} ${n === 1 ? 'step' : 'steps'}.`,
  needs: (name: string, least: number) => `${name} needs ${least}`,
  tooFewGaps: (n: number, least: number) => `Of only ${n} gaps it is simply the longest; it needs ${least}.`,
  tooFewSteps: (n: number, least: number) => `Of only ${n} steps it is simply the longest; it needs ${least}.`,
  recoveryCount: (n: number) =>
    n === 1 ? 'One is a recovery, and counts like any other.' : `${n} are recoveries, and count like any other.`,
  recoveries: (n: number) => (n === 1 ? 'Recovery' : `${n} recoveries`),
  recoveriesHelp: (what: string) =>
    `${what} Such a pause is a gap like any other: it counts in mean, percentiles, histogram and decode rate.`,
  inOut: (prompt: string, out: number) => `${prompt} in, ${out} out`,
  of: (n: number, all: number) => `${n} of ${all}`,
  timingNote: 'By the clock of the engine’s worker, which browsers round: to 0.1 ms in Chromium.',
  gpuNote: 'By the GPU’s clock, which browsers round to 65 microseconds unless developer features are on.',
  stepNote: 'Fused steps compute attention themselves; the decode kernel above runs in plain steps.',
  cpuNote: 'The cpu backend starts no kernels, so there is nothing to count.',
  decode: ['Decode', 'Tokens generated a second after the first: (n − 1) / (time of the last − time of the first).'],
  tokens: ['Tokens', 'Prompt tokens and generated tokens.'],
  mean: ['Mean gap', 'Mean time between tokens. It hides stalls: look at p99 and the chart.'],
  jitter: ['Jitter', 'Mean absolute difference of neighboring gaps. 0 is a perfectly even stream.'],
  ttft: ['First token', 'TTFT: from the request to the first token, measured by the engine.'],
  ttftSoFar: 'TTFT: from the request to the first token, as seen by this page until the run is done.',
  prefillRate: ['Prefill', 'Prompt tokens a second. Those still in the cache from the turn before are not counted.'],
  tokenize: ['– tokenizing', 'Part of TTFT: chat template and text to token ids.'],
  prefill: ['– prefill', 'Part of TTFT: the prompt through the model. While it runs: prompt tokens done, and all.'],
  cached: [
    'Reused',
    'Prompt tokens whose keys and values were still in the cache from the turn before: no prefill for them.',
  ],
  loaded: ['Loading', before('the model was loaded.')],
  opened: ['– open', before('the model’s header, tokenizer and configuration were read.')],
  weighed: ['– weights', before('the weights were read and put in place, while kernels compiled.')],
  compiled: ['– compile', before('what compiling took beyond that, the checks of the kernels and a first pass.')],
  step: [
    'Step',
    'Fused: one dispatch for all layers. Plain: a dispatch for each operation. A fused step that waits too long gives up and runs again as a plain one.',
  ],
  dispatches: ['Dispatches', 'Kernels started on the GPU per token.'],
  submits: ['Submits', 'Command buffers handed to the GPU per token.'],
  syncs: ['Syncs', 'Readbacks per token that the CPU had to wait for.'],
  bytesRead: ['Readback', 'Bytes that came back from the GPU per token: ids, no logits.'],
  runAhead: ['Run-ahead', 'Steps queued on the GPU ahead of the one being read, so that it never waits for the CPU.'],
  needed: (weights: string, kv: string) =>
    `What a step has to read of the GPU’s memory: ${weights} of weights, and ${kv} for each position of this run’s mean context.`,
  neededLabel: 'Read per token',
  bandwidth: 'Bandwidth',
  bandwidthHelp: {
    gpu: 'These bytes a second, by the GPU’s own time of a step (p50).',
    gaps: 'These bytes a second, by the mean gap between tokens.',
    none: 'These bytes a second.',
  },
  ofPeak: 'Of peak bandwidth',
  ofPeakHelp: (speed: string, clock: 'gpu' | 'cpu') =>
    `Of ${speed}, the most that a kernel of ours reads here, measured by the ${clock === 'gpu' ? 'GPU’s' : 'CPU’s'} clock. A small model stays in the GPU’s cache and may pass it.`,
  noPeak: 'How near the reading comes to the most that this GPU’s memory gives: measure the roofline first.',
  weights: ['Weights', 'Buffers that hold the model.'],
  kvCache: ['KV cache', 'Keys and values of the whole context, allocated at load.'],
  activations: ['Activations', 'Everything else: activations, scratch memory of attention, readbacks, timestamps.'],
  peak: ['Peak', 'Most bytes held at once, loading included.'],
  backend: ['Backend', 'What computes: WebGPU or plain loops.'],
  adapter: ['Adapter', 'The GPU, as the browser names it.'],
  model: 'Model',
  layers: (architecture: string, n: number) => `${architecture}, ${n} layers`,
  format: ['Weights', 'Number formats found in the file, and its size.'],
  context: ['Context', 'Tokens that fit, and how their keys and values are stored.'],
  contextValue: (tokens: string, kv: string) => `${tokens} tokens, KV ${kv}`,
  arithmetic: [
    'Activations',
    'What quantized matrices are multiplied with: signed bytes (q8), or f32, which is exact.',
  ],
  load: 'Loading',
  loadHelp: (open: string, weights: string, compile: string) => `Open ${open}, weights ${weights}, compile ${compile}.`,
};
