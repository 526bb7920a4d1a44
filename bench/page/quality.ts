// `bench -- quality`: what quantized activations cost in words, on stories that the same weights tell in f32.

import { InvalidRequestError } from '../../src/errors';
import type { ActivationType } from '../../src/model/arithmetic';
import { readConfig } from '../../src/model/config/read';
import { Llama } from '../../src/model/llama';
import { checkStep, type StepChoice } from '../../src/model/step/step_choice';
import { resolveTensors } from '../../src/model/tensors';
import { allocateWeights, type QuantizedFormat } from '../../src/model/weights';
import { openModel } from '../../src/storage/model_file';
import { createTokenizer } from '../../src/text/any_tokenizer';
import { createChatTemplate } from '../../src/text/template/chat_template';
import { findChatTemplate } from '../../src/text/template/find_template';
import { decideStep } from '../../src/tune/step';
import { compareSpeakers, type Speaker, type Story, speakerOf } from '../../test/engine/quality';
import { modelAsF32 } from '../../test/engine/quality_tensors';
import requests from '../../test/fixtures/storyteller/greedy.json';
import type { BenchResult, QualityRow } from '../report';
import type { Bench } from './bench';

const FORMATS: readonly QuantizedFormat[] = ['q8', 'q4'];
const QUICK_STORIES = 2;

export async function qualitySuite(bench: Bench): Promise<BenchResult> {
  const { request, signal } = bench;
  const files = await openModel(new URL(request.model, location.href).href, { signal });
  const rows: QualityRow[] = [];
  for (const weights of FORMATS) {
    if (bench.stopped) break;
    bench.say({ text: `${weights} weights: loading` });
    rows.push(await measureRow(bench, files, weights));
    await bench.renew(); // the next weights need the memory
  }
  return { suite: 'quality', model: files.name, kv: request.kv, tokens: request.tokens, rows };
}

type Files = Awaited<ReturnType<typeof openModel>>;

async function measureRow(bench: Bench, files: Files, weights: QuantizedFormat): Promise<QualityRow> {
  const stories = storiesOf(bench, files);
  const { f32, q8, step } = await openSpeakers(bench, files, weights, stories);
  const untilStopped = function* () {
    for (const story of stories) {
      if (bench.stopped) return;
      yield story;
    }
  };
  const { told, ...quality } = await compareSpeakers(f32, q8, untilStopped(), ({ told, ratio, agreement }) => {
    const figures = `perplexity ${ratio.toFixed(5)} times that of f32, top-1 agreement ${agreement.toFixed(4)}`;
    bench.say({ text: `${weights} weights: ${figures}`, done: told, total: stories.length });
  });
  return { weights, stories: told, step, ...quality };
}

/**
 * The same weights for both; the file's matrices become `format` as `--quantize` would make them, whatever they were.
 */
async function openSpeakers(
  { gpu, request: { kv: kvType, step }, signal }: Bench,
  files: Files,
  format: QuantizedFormat,
  stories: readonly Story[],
): Promise<Record<ActivationType, Speaker> & { step: StepChoice }> {
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, modelAsF32(resolveTensors(files, config)), config, format);
  const contextLength = Math.max(...stories.map(({ prompt, maxTokens }) => prompt.length + maxTokens));
  const open = async (activations: ActivationType) => {
    const options = { contextLength, kvType, attention: 'auto', activations } as const;
    const llama = await Llama.create(gpu, config, weights, activations === 'q8' ? { ...options, step } : options);
    if (llama.activations !== activations) {
      throw new InvalidRequestError(`Activations ${activations} cannot run here: it is ${llama.activations}.`);
    }
    return llama;
  };
  const [f32, q8] = [await open('f32'), await open('q8')];
  await read(files, signal);
  for (const llama of [f32, q8]) llama.start(weights);
  const decision = await decideStep(gpu, q8.stepped, step === 'fused');
  if (decision) q8.decideStep(decision);
  checkStep(step, q8.step);
  return { f32: speakerOf(f32), q8: speakerOf(q8), step: q8.step };
}

/** A request each, with a seed of its own. */
function storiesOf({ request: { tokens: maxTokens, quick } }: Bench, files: Files): Story[] {
  const tokenizer = createTokenizer(files);
  const source = findChatTemplate(files);
  const template = source === null ? null : createChatTemplate(source, tokenizer);
  const idsOf = (content: string) =>
    template
      ? template.encode({ messages: [{ role: 'user', content }] }, tokenizer).ids
      : tokenizer.encode(content, { addSpecialTokens: true });
  return requests.slice(0, quick ? QUICK_STORIES : requests.length).map(({ prompt }, seed) => {
    return { prompt: Array.from(idsOf(prompt)), seed, maxTokens, eosIds: tokenizer.eosIds };
  });
}
