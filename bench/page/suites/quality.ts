// `bench -- quality`: what quantized activations cost in words, on stories that the same weights tell in f32; and what
// keys and values in signed bytes cost, on stories that they tell with f16.

import type { AttentionName } from '../../../src/attention/attention';
import { InvalidRequestError } from '../../../src/errors';
import { readConfig } from '../../../src/model/config/read';
import type { ActivationType, Arithmetic } from '../../../src/model/layers/arithmetic';
import { Llama, type LlamaOptions } from '../../../src/model/llama';
import { checkStep, type StepChoice } from '../../../src/model/step/step_choice';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights, type QuantizedFormat } from '../../../src/model/weights/weights';
import { openModel } from '../../../src/storage/model_file';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { createChatTemplate } from '../../../src/text/template/chat_template';
import { findChatTemplate } from '../../../src/text/template/find_template';
import { withProvenance } from '../../../src/text/template/late_provenance';
import { decideStep } from '../../../src/tune/step';
import { compareSpeakers, rereaderOf, type Speaker, type Story, speakerOf } from '../../../test/engine/quality/quality';
import { modelAsF32 } from '../../../test/engine/quality/quality_tensors';
import requests from '../../../test/fixtures/storyteller/greedy.json';
import type { BenchResult, QualityRow } from '../../report';
import type { Bench } from '../bench';

const FORMATS: readonly QuantizedFormat[] = ['q8', 'q4'];
const QUICK_STORIES = 2;

export async function qualitySuite(bench: Bench): Promise<BenchResult> {
  const { gpu, request, signal } = bench;
  const files = await openModel(new URL(request.model, location.href).href, { signal });
  const rows = await measureRows(bench, files, ofActivations(bench));
  const matrixRows = gpu.can.matrices ? await measureRows(bench, files, ofMatrices(bench), ['q4']) : [];
  const longRows = await measureRows(bench, files, ofLongPrompts(bench), ['q4']);
  const kvRows = request.kv === 'q8' ? await measureRows(bench, files, OF_KV) : [];
  return {
    suite: 'quality',
    model: files.name,
    kv: request.kv,
    tokens: request.tokens,
    rows,
    kvRows,
    matrixRows,
    longRows,
  };
}

type Compared = Pick<LlamaOptions, 'kvType' | 'step' | 'matricesFrom'> & {
  attention?: AttentionName;
  activations: ActivationType | Arithmetic;
};

/** What tells the stories, and what follows them. */
interface Pair {
  reference: Compared;
  measured: Compared;
  /** The measured model reads the whole text again for each token. */
  again?: boolean;
}

const ofActivations = ({ request: { kv: kvType, step } }: Bench): Pair => ({
  reference: { kvType, activations: 'f32' },
  measured: { kvType, activations: 'q8', step },
});

/** Passes of any length on subgroup matrices, and the head in f32. */
const ofMatrices = ({ request: { kv: kvType } }: Bench): Pair => ({
  reference: { kvType, activations: 'f32' },
  measured: { kvType, activations: { decode: 'f32', prefill: 'q8' }, matricesFrom: 1 },
  again: true,
});

/** The attention of long prompts for texts of any length, and all else in f32. */
const ofLongPrompts = ({ request: { kv: kvType } }: Bench): Pair => ({
  reference: { kvType, activations: 'f32' },
  measured: { kvType, activations: 'f32', attention: 'flash_prefill_q8' },
  again: true,
});

const OF_KV: Pair = {
  reference: { kvType: 'f16', activations: 'f32' },
  measured: { kvType: 'q8', activations: 'f32' },
};

async function measureRows(bench: Bench, files: Files, pair: Pair, formats = FORMATS): Promise<QualityRow[]> {
  const rows: QualityRow[] = [];
  for (const weights of formats) {
    if (bench.stopped) break;
    bench.say({ text: `${weights} weights: loading` });
    rows.push(await measureRow(bench, files, weights, pair));
    await bench.renew(); // the next weights need the memory
  }
  return rows;
}

type Files = Awaited<ReturnType<typeof openModel>>;

async function measureRow(bench: Bench, files: Files, weights: QuantizedFormat, pair: Pair): Promise<QualityRow> {
  const stories = await storiesOf(bench, files);
  const { reference, measured, step } = await openSpeakers(bench, files, weights, stories, pair);
  const untilStopped = function* () {
    for (const story of stories) {
      if (bench.stopped) return;
      yield story;
    }
  };
  const { told, ...quality } = await compareSpeakers(
    reference,
    measured,
    untilStopped(),
    ({ told, ratio, agreement }) => {
      const figures = `perplexity ${ratio.toFixed(5)} times the other, top-1 agreement ${agreement.toFixed(4)}`;
      bench.say({ text: `${weights} weights: ${figures}`, done: told, total: stories.length });
    },
  );
  return { weights, stories: told, step, ...quality };
}

/**
 * The same weights for both; the file's matrices become `format` as `--quantize` would make them, whatever they were.
 */
async function openSpeakers(
  { gpu, signal }: Bench,
  files: Files,
  format: QuantizedFormat,
  stories: readonly Story[],
  pair: Pair,
): Promise<Record<'reference' | 'measured', Speaker> & { step: StepChoice }> {
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, modelAsF32(resolveTensors(files, config)), config, format);
  const contextLength = Math.max(...stories.map(({ prompt, maxTokens }) => prompt.length + maxTokens));
  const open = async ({ activations, ...compared }: Compared) => {
    const options = { contextLength, attention: 'auto', activations, ...compared } as const;
    const llama = await Llama.create(gpu, config, weights, options);
    if (typeof activations === 'string' && llama.activations !== activations) {
      throw new InvalidRequestError(`Activations ${activations} cannot run here: it is ${llama.activations}.`);
    }
    return llama;
  };
  const [reference, measured] = [await open(pair.reference), await open(pair.measured)];
  await read(files, signal);
  for (const llama of [reference, measured]) llama.start(weights);
  const { step = 'auto' } = pair.measured;
  const decision = await decideStep(gpu, measured.stepped, step === 'fused');
  if (decision) measured.decideStep(decision);
  checkStep(step, measured.step);
  const { matrices } = measured;
  if (pair.measured.matricesFrom && !matrices?.used)
    throw new InvalidRequestError(`No subgroup matrices: ${matrices?.reason}.`);
  const speaker = (pair.again ? rereaderOf : speakerOf)(measured);
  return { reference: speakerOf(reference), measured: speaker, step: measured.step };
}

/** A request each, with a seed of its own. */
async function storiesOf({ request: { tokens: maxTokens, quick } }: Bench, files: Files): Promise<Story[]> {
  const tokenizer = createTokenizer(files);
  const source = findChatTemplate(files);
  const template = source === null ? null : createChatTemplate(source, tokenizer);
  const idsOf = (content: string) =>
    template
      ? template.encode({ messages: [{ role: 'user', content }] }, tokenizer).ids
      : tokenizer.encode(content, { addSpecialTokens: true });
  const stories = requests.slice(0, quick ? QUICK_STORIES : requests.length).map(async ({ prompt }, seed) => {
    const ids = await withProvenance(() => idsOf(prompt));
    return { prompt: Array.from(ids), seed, maxTokens, eosIds: tokenizer.eosIds };
  });
  return Promise.all(stories);
}
