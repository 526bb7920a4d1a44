// The engine's own session over a model that was made up: what decode and prefill are measured on.

import { WebGpuBackend } from '../../../src/engine/backend/webgpu_backend';
import { settle } from '../../../src/engine/load/settle';
import type { EngineEvent, GenerateOptions, RunMetrics, TbtSummary, Usage } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import type { Session } from '../../../src/engine/worker/request/session';
import { InvalidRequestError, VivaceError } from '../../../src/errors';
import { compileConstraint } from '../../../src/grammar/constraint';
import type { ModelConfig } from '../../../src/model/config/config';
import { Llama } from '../../../src/model/llama';
import { checkStep } from '../../../src/model/step/step_choice';
import type { ModelWeights } from '../../../src/model/weights/weights';
import type { Tokenizer } from '../../../src/text/tokenizer';
import { decideStep } from '../../../src/tune/step';
import type { ModelBytes, Refusal, ShapeName } from '../../report';
import type { Bench } from '../bench';
import { withWords } from './made_up_words';
import { seededTokenizer } from './seeded_tokenizer';
import { checkFits, modelBytes, syntheticConfig } from './synthetic_config';
import { syntheticWeights } from './synthetic_weights';

export interface SyntheticModel {
  config: ModelConfig;
  llama: Llama;
  session: Session;
  /** Names what no other answer of the session needs: words, and an end. */
  words: Tokenizer | null;
  /** The state of the loop for each set of options. Rounds in turns must not share one. */
  learned: Map<string, Session['runAhead']>;
}

export interface Answer {
  metrics: RunMetrics;
  /** The GPU's own time of each step. */
  gpuMs: TbtSummary | null;
  usage: Usage;
  /** Milliseconds that the worker spent in queueing decode steps, and how many they were. */
  queueing: { ms: number; steps: number };
}

/** @throws GpuMemoryError with the bytes, before anything is allocated where that can be foreseen */
export async function openSynthetic(bench: Bench, name: ShapeName, contextLength: number): Promise<SyntheticModel> {
  const { gpu, request } = bench;
  const { quant, kv: kvType, attention, activations, step } = request;
  const config = syntheticConfig(name, contextLength);
  checkFits(config, quant, kvType, contextLength, gpu.bindingLimit);
  const weights = await syntheticWeights(gpu, config, quant);
  const llama = await Llama.create(gpu, config, weights, {
    contextLength,
    kvType,
    attention: attention[0],
    activations,
    step,
  });
  if (activations !== 'auto' && activations !== llama.activations) {
    throw new InvalidRequestError(`Activations ${activations} cannot run here: ${quant} runs on ${llama.activations}.`);
  }
  checkStep(step, llama.step);
  llama.start(weights);
  if (request.tuned) {
    await settleAsLoaded(bench, llama, weights, contextLength);
  } else {
    const decision = await decideStep(gpu, llama.stepped, step === 'fused');
    if (decision) llama.decideStep(decision);
  }
  checkStep(step, llama.step);
  const backend = new WebGpuBackend(gpu, llama);
  await backend.warmUp();
  const { vocabSize } = config;
  const session = { backend, tokenizer: seededTokenizer(vocabSize), template: null, vocabSize, cachedIds: [] };
  return { config, llama, session, words: null, learned: new Map() };
}

/** Milliseconds in which a load reads weights. */
const WEIGHTS_MS = 2000;

/** As the first load on a GPU does, with the time that it takes once the weights are there. */
async function settleAsLoaded(bench: Bench, llama: Llama, weights: ModelWeights, contextLength: number): Promise<void> {
  const { gpu, request } = bench;
  const { kv: kvType, step: asked } = request;
  const { signal } = new AbortController();
  const { config, activations } = llama.batchSources;
  const load = {
    asked,
    config,
    weights,
    kvType,
    contextLength,
    activations: activations.decode,
    options: {},
    profile: null,
    signal,
  };
  const end = settle(gpu, llama, load);
  await new Promise((resolve) => setTimeout(resolve, WEIGHTS_MS)); // what it measures compiles meanwhile
  const start = performance.now();
  await end();
  const { tuned } = llama.batchSources;
  const ms = Math.round(performance.now() - start);
  bench.say({ text: `tuned in ${ms} ms, with the choice of a step: ${JSON.stringify(tuned)}` });
}

export function syntheticBytes(bench: Bench, name: ShapeName, contextLength: number): ModelBytes {
  const { gpu, request } = bench;
  const config = syntheticConfig(name, contextLength);
  return modelBytes(config, request.quant, request.kv, contextLength, gpu.bindingLimit);
}

/** One answer of exactly `maxTokens` tokens by the engine's own loop, greedy unless `given` says otherwise. */
export async function answer(
  model: SyntheticModel,
  prompt: string,
  maxTokens: number,
  given: GenerateOptions = {},
): Promise<Answer> {
  const { session, learned } = model;
  const { constraint, ...rest } = given;
  const watch = watchDecode(session);
  const options = { maxTokens, temperature: 0, seed: 0, ...rest, gpuTimes: true };
  const obeyed = constraint && { automaton: compileConstraint(constraint).automaton, onlyCalls: false };
  const { tokenizer } = session;
  if (obeyed) session.tokenizer = model.words ??= withWords(tokenizer);
  const key = JSON.stringify(given);
  session.runAhead = learned.get(key);
  const ends: Extract<EngineEvent, { type: 'done' }>[] = [];
  let gpuMs: Answer['gpuMs'] = null;
  const hear = (events: readonly EngineEvent[]) => {
    for (const event of events) {
      if (event.type === 'done') ends.push(event);
      if (event.type === 'gpuTimes') gpuMs = event.gpuMs;
    }
  };
  try {
    await generate(session, { prompt }, options, hear, () => false, undefined, obeyed);
  } finally {
    watch.stop();
    session.tokenizer = tokenizer;
    learned.set(key, session.runAhead);
  }
  const [{ metrics, usage, finishReason }] = ends;
  if (usage.completionTokens !== maxTokens) {
    throw new VivaceError('internal', `The answer ended after ${usage.completionTokens} tokens: ${finishReason}.`);
  }
  return { metrics, gpuMs, usage, queueing: watch.queueing };
}

/** Takes the time of every call that queues decode steps: what the CPU records and submits. */
function watchDecode({ backend }: Session): { queueing: Answer['queueing']; stop(): void } {
  const queueing = { ms: 0, steps: 0 };
  const { decode, decodeMany } = backend;
  const timed = <T>(steps: number, queue: () => T): T => {
    const start = performance.now();
    const queued = queue();
    queueing.ms += performance.now() - start;
    queueing.steps += steps;
    return queued;
  };
  backend.decode = (position) => timed(1, () => decode.call(backend, position));
  if (decodeMany) {
    backend.decodeMany = (position, count) => timed(count, () => decodeMany.call(backend, position, count));
  }
  return {
    queueing,
    stop() {
      Object.assign(backend, { decode, decodeMany });
    },
  };
}

/** A typed error as the reason of a row; anything else is a defect and ends the suite. A lost device is renewed. */
export async function refusalOf(bench: Bench, error: unknown): Promise<Refusal> {
  if (!(error instanceof VivaceError)) throw error;
  await bench.renew(); // with everything that was allocated
  return { code: error.code, message: error.message };
}

const WARM_MS = 800;

/**
 * Answers that nobody measures, until the GPU has left its idle clocks behind; none where figures mean little anyway.
 */
export async function warmUp(work: () => Promise<Answer>, quick: boolean): Promise<Answer[]> {
  const answers: Answer[] = [];
  const end = performance.now() + WARM_MS;
  while (!quick && performance.now() < end) answers.push(await work());
  return answers;
}
