// The model of `bench -- step`: one set of weights behind a session whose decode steps are fused or plain, and another
// session that computes in f32.

import { WebGpuBackend } from '../../../src/engine/backend/webgpu_backend';
import type { GenerateInput } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import type { Session } from '../../../src/engine/worker/request/session';
import { InvalidRequestError } from '../../../src/errors';
import type { StepLaunch } from '../../../src/kernels/step/step_plan';
import type { ModelConfig } from '../../../src/model/config/config';
import { readConfig } from '../../../src/model/config/read';
import { Llama } from '../../../src/model/llama';
import type { StepDecision } from '../../../src/model/step/decode_step';
import { checkStep, type StepChoice } from '../../../src/model/step/step_choice';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights, type ModelWeights } from '../../../src/model/weights/weights';
import { openModel } from '../../../src/storage/model_file';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { createChatTemplate } from '../../../src/text/template/chat_template';
import { findChatTemplate } from '../../../src/text/template/find_template';
import { decideStep } from '../../../src/tune/step';
import requests from '../../../test/fixtures/storyteller/greedy.json';
import type { ShapeName } from '../../report';
import type { Bench } from '../bench';
import { seededPrompt, seededTokenizer } from './seeded_tokenizer';
import { checkFits, syntheticConfig } from './synthetic_config';
import { syntheticWeights } from './synthetic_weights';

/** Prompts of a made-up model have as many tokens. */
const PROMPT_TOKENS = 64;
/** Tokens of the prompt in front of the step that is compared. */
const COMPARED_TOKENS = 512;
const QUICK_COMPARED_TOKENS = 24;
const QUICK_PROMPTS = 2;
/** Tries of a fused step that gives up: other work keeps the cores of an adapter busy that computes on the CPU. */
export const triesOn = ({ gpu }: Bench) => (gpu.isSoftware ? 20 : 3);

export interface StepModel {
  launch: StepLaunch;
  llama: Llama;
  session: Session;
  /** The same weights in f32. */
  exact: Session;
  /** Requests for texts, 20 or a few. */
  inputs: readonly GenerateInput[];
  /** Requests with as many tokens in front as the suite was asked for. */
  longInput: (seed: number) => GenerateInput;
  /** Ids of the prompt in front of the step that is compared. */
  compared: Uint32Array<ArrayBuffer>;
  /** Runs decode steps so from now on. */
  use: (name: StepChoice['name']) => void;
}

/** Everything that a made-up model and one of a file have alike. */
interface Source extends Pick<Session, 'tokenizer' | 'template'> {
  config: ModelConfig;
  contextLength: number;
  weights: ModelWeights;
  /** Fills the weights. */
  read: () => Promise<void>;
  inputs: readonly GenerateInput[];
  longInput: (seed: number) => GenerateInput;
  /** So many ids of a text. */
  someIds: (count: number) => Uint32Array<ArrayBuffer>;
}

/**
 * @param shape of a made-up model; null for the model of the request
 * @throws InvalidRequestError where the fused step cannot run
 */
export async function openStepModel(bench: Bench, shape: ShapeName | null): Promise<StepModel> {
  const { gpu, request } = bench;
  const source = shape ? await makeUp(bench, shape) : await openFile(bench);
  const { config, contextLength, weights, tokenizer, template, inputs, longInput } = source;
  const options = { contextLength, kvType: request.kv, attention: 'auto' } as const;
  const [llama, exact] = await Promise.all([
    Llama.create(gpu, config, weights, { ...options, activations: 'q8', step: 'fused' }),
    Llama.create(gpu, config, weights, { ...options, activations: 'f32' }),
  ]);
  checkStep('fused', llama.step);
  await source.read();
  for (const each of [llama, exact]) each.start(weights);
  const decision = await decide(bench, llama);
  const open = async (of: Llama): Promise<Session> => {
    const backend = new WebGpuBackend(gpu, of);
    await backend.warmUp();
    return { backend, tokenizer, template, vocabSize: config.vocabSize, cachedIds: [] };
  };
  const { launch } = llama.stepped.fused ?? {};
  if (!launch) throw new InvalidRequestError('No fused step.');
  const compared = Math.min(request.quick ? QUICK_COMPARED_TOKENS : COMPARED_TOKENS, contextLength - 2);
  return {
    launch,
    llama,
    session: await open(llama),
    exact: await open(exact),
    inputs,
    longInput,
    compared: source.someIds(compared),
    use: (name) => llama.decideStep({ ...decision, name }),
  };
}

/** The fused step, checked and timed as by a load. */
async function decide(bench: Bench, llama: Llama): Promise<StepDecision> {
  let decision: StepDecision | null = null;
  for (let tries = 0; decision?.name !== 'fused' && tries < triesOn(bench); tries++) {
    decision = await decideStep(bench.gpu, llama.stepped, true);
  }
  if (decision) llama.decideStep(decision);
  checkStep('fused', llama.step);
  return decision as StepDecision;
}

async function makeUp({ gpu, request }: Bench, shape: ShapeName): Promise<Source> {
  const { context, steps, tokens, quant, kv, quick } = request;
  const contextLength = Math.max(context + steps, PROMPT_TOKENS + tokens, quick ? 0 : COMPARED_TOKENS) + 2;
  const config = syntheticConfig(shape, contextLength);
  checkFits(config, quant, kv, contextLength, gpu.bindingLimit);
  const tokenizer = seededTokenizer(config.vocabSize);
  return {
    config,
    contextLength,
    weights: await syntheticWeights(gpu, config, quant),
    read: async () => {},
    tokenizer,
    template: null,
    inputs: requests
      .slice(0, quick ? QUICK_PROMPTS : requests.length)
      .map((_, seed) => ({ prompt: seededPrompt(PROMPT_TOKENS, PROMPT_TOKENS, seed) })),
    longInput: (seed) => ({ prompt: seededPrompt(context, context, seed) }),
    someIds: (count) => Uint32Array.from(tokenizer.encodePlain(seededPrompt(count, count, 0))),
  };
}

async function openFile({ gpu, request, signal }: Bench): Promise<Source> {
  const files = await openModel(new URL(request.model, location.href).href, { signal });
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
  const tokenizer = createTokenizer(files);
  const found = findChatTemplate(files);
  const inputs = requests.map(
    ({ prompt }): GenerateInput => (found === null ? { prompt } : { messages: [{ role: 'user', content: prompt }] }),
  );
  const { context, steps, quick } = request;
  const ids = tokenizer.encodePlain(requests.map(({ prompt }) => prompt).join('. '));
  return {
    config,
    contextLength: Math.min(config.contextLength, Math.max(context + steps, COMPARED_TOKENS) + 2),
    weights,
    read: () => read(files, signal),
    tokenizer,
    template: found === null ? null : createChatTemplate(found, tokenizer),
    inputs: inputs.slice(0, quick ? QUICK_PROMPTS : inputs.length),
    longInput: (seed) => inputs[seed % inputs.length],
    someIds: (count) => Uint32Array.from({ length: count }, (_, i) => ids[i % ids.length]),
  };
}

/** The ids of a greedy answer by the engine's own loop, and the times between them. */
export async function greedy(
  session: Session,
  input: GenerateInput,
  maxTokens: number,
): Promise<{ ids: number[]; gaps: number[] }> {
  const ids: number[] = [];
  const gaps: number[] = [];
  session.cachedIds = []; // or the last token of the prompt would be a decode step
  await generate(
    session,
    input,
    { maxTokens, temperature: 0, seed: 0 },
    (events) => {
      for (const event of events) {
        if (event.type !== 'token') continue;
        ids.push(event.id);
        if (event.tbtMs !== null) gaps.push(event.tbtMs);
      }
    },
    () => false,
  );
  return { ids, gaps };
}
