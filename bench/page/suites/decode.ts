// `bench -- decode`: the engine's own loop over weights that were made up, by run-ahead and by context.

import type { GenerateOptions } from '../../../src/engine/protocol';
import { optionTexts } from '../../option_texts';
import type {
  BenchResult,
  DecodeFigures,
  DecodeRow,
  Gaps,
  KernelTable,
  ModelBytes,
  Refusal,
  Roofline,
  ShapeName,
} from '../../report';
import type { Bench } from '../bench';
import { profileKernels } from '../measure/profile_kernels';
import { measureRoofline } from '../measure/roofline';
import { LISTS } from '../synthetic/made_up_words';
import { seededPrompt } from '../synthetic/seeded_tokenizer';
import { stepBytes, syntheticConfig } from '../synthetic/synthetic_config';
import {
  type Answer,
  answer,
  openSynthetic,
  refusalOf,
  type SyntheticModel,
  syntheticBytes,
  warmUp,
} from '../synthetic/synthetic_session';

const SWEEP = { runAheads: [1, 2, 4, 8, 'auto'], contexts: [128, 1024, 4096, 16384, 32768] } as const;
const QUICK_SWEEP = { runAheads: [1, 2, 'auto'], contexts: [16, 48] } as const;
/** Prompt tokens that differ from round to round, so that each has its own prefill: of long prompts the last ones. */
const OWN_TOKENS = 2048;
const WARM_TOKENS = 32;
/** Contexts are loaded in whole pages, as those of files mostly are. */
const PAGE = 256;

type RunAhead = 'auto' | number;

/** How the answers of a row are asked for. */
interface Asked {
  runAhead: RunAhead;
  answer: GenerateOptions;
}

/** Rows of one shape at one context: measured on one model, in turns. */
interface Group {
  shape: ShapeName;
  context: number;
  asked: readonly Asked[];
  /** True when its kernels are measured apart, too. */
  profiled: boolean;
}

export async function decodeSuite(bench: Bench): Promise<BenchResult> {
  const { quant, kv } = bench.request;
  const roofline = await measureRoofline(bench);
  const groups = itinerary(bench);
  const total = groups.reduce((sum, { asked }) => sum + asked.length, 0);
  const rows: DecodeRow[] = [];
  const kernels: KernelTable[] = [];
  for (const group of groups) {
    if (bench.stopped) break;
    const measured = await measureGroup(bench, group, roofline);
    kernels.push(...measured.kernels);
    for (const row of measured.rows) {
      rows.push(row);
      bench.say({ text: describe(row), done: rows.length, total });
    }
  }
  return { suite: 'decode', quant, kv, roofline, rows, kernels };
}

function itinerary({ request }: Bench): Group[] {
  const { shapes, context, runAhead, answer: given, sweep, quick } = request;
  const { runAheads, contexts } = quick ? QUICK_SWEEP : SWEEP;
  return shapes.flatMap((shape): Group[] => {
    const free = Object.keys(given).length > 0 ? [{}, given] : [{}];
    const answers = request.constrained ? free.flatMap((each) => [each, { ...each, constraint: LISTS }]) : free;
    const askedFor = (depths: readonly RunAhead[]) =>
      depths.flatMap((depth) => answers.map((each): Asked => ({ runAhead: depth, answer: each })));
    const first = { shape, context, asked: askedFor(sweep ? runAheads : [runAhead]), profiled: true };
    const others = sweep ? contexts.filter((length) => length !== context) : [];
    return [first, ...others.map((length) => ({ shape, context: length, asked: askedFor(['auto']), profiled: false }))];
  });
}

/** Everything of a group that does not depend on a measurement. */
interface Ground {
  bytesPerToken: { weights: number; kv: number };
  gpuBytes: ModelBytes;
  contextLength: number;
}

function groundOf(bench: Bench, { shape, context }: Group): Ground {
  const { tokens, quant, kv } = bench.request;
  const contextLength = Math.ceil((context + tokens + 1) / PAGE) * PAGE;
  const bytes = stepBytes(syntheticConfig(shape, contextLength), quant, kv, midRun(context, tokens));
  const attention = bytes.get('attention') ?? 0;
  const all = [...bytes.values()].reduce((sum, each) => sum + each, 0);
  return {
    bytesPerToken: { weights: all - attention, kv: attention },
    gpuBytes: syntheticBytes(bench, shape, contextLength),
    contextLength,
  };
}

const midRun = (context: number, tokens: number) => context + Math.ceil(tokens / 2);

async function measureGroup(
  bench: Bench,
  group: Group,
  roofline: Roofline,
): Promise<{ rows: DecodeRow[]; kernels: KernelTable[] }> {
  const ground = groundOf(bench, group);
  const { shape, context, asked, profiled } = group;
  bench.say({ text: `${shape}, context ${context}: making the model` });
  try {
    const model = await openSynthetic(bench, shape, ground.contextLength);
    const rows = await measureRows(bench, group, ground, model, roofline);
    const kernels = profiled && !bench.stopped ? await profileAt(bench, group, model) : [];
    await bench.renew(); // the next model needs the memory
    return { rows, kernels };
  } catch (error) {
    const refused = await refusalOf(bench, error);
    return { rows: asked.map((each) => emptyRow(bench, group, ground, each, refused)), kernels: [] };
  }
}

async function profileAt(bench: Bench, { shape, context }: Group, model: SyntheticModel): Promise<KernelTable[]> {
  const table = await profileKernels(bench, model, shape, midRun(context, bench.request.tokens));
  return table ? [table] : [];
}

/** The events of a row so far. */
interface Heard {
  asked: Asked;
  answers: Answer[];
  refused: Refusal | null;
}

/** Rounds of all rows in turns, so that none has the better minute of the GPU. */
async function measureRows(
  bench: Bench,
  group: Group,
  ground: Ground,
  model: SyntheticModel,
  roofline: Roofline,
): Promise<DecodeRow[]> {
  const { tokens, rounds, quick } = bench.request;
  const { context } = group;
  let seed = 0;
  const prompt = () => seededPrompt(context, Math.min(context, OWN_TOKENS), seed++);
  const warm = await warmUp(() => answer(model, prompt(), Math.min(WARM_TOKENS, tokens) + 1), quick);
  const heard = group.asked.map((asked): Heard => ({ asked, answers: [], refused: null }));
  for (let round = 0; round < rounds; round++) {
    for (const { asked, answers } of heard) {
      if (bench.stopped && answers.length > 0) continue;
      answers.push(await answer(model, prompt(), tokens + 1, { ...asked.answer, runAhead: asked.runAhead }));
      const speed = answers.at(-1)?.metrics.decodeTokensPerSecond ?? 0;
      bench.say({ text: `${placeText({ ...group, ...asked })}: ${speed.toFixed(1)} tok/s` });
    }
  }
  return heard.map(({ asked, answers }) => {
    const whole = [...warm, ...answers].filter(({ usage }) => usage.cachedTokens === 0);
    const figures = answers.map((each) => figuresOf(each, ground, roofline));
    const sorted = [...figures].sort((a, b) => a.tokensPerSecond - b.tokensPerSecond);
    return {
      ...emptyRow(bench, group, ground, asked, null),
      best: sorted.at(-1) ?? null,
      median: sorted[Math.floor(sorted.length / 2)] ?? null,
      rounds: figures.map(({ tokensPerSecond }) => tokensPerSecond),
      ttftMs: Math.min(...whole.map(({ metrics }) => metrics.ttftMs ?? Number.POSITIVE_INFINITY)),
      attention: answers.at(-1)?.metrics.attention ?? null,
      step: answers.at(-1)?.metrics.step ?? null,
      activations: model.llama.activations,
    };
  });
}

function emptyRow(bench: Bench, group: Group, ground: Ground, asked: Asked, refused: Refusal | null): DecodeRow {
  const { shape, context } = group;
  const { bytesPerToken, gpuBytes } = ground;
  const choices = { attention: null, step: null, activations: null };
  const nothing = { best: null, median: null, rounds: [], ttftMs: null, ...choices };
  return { shape, context, tokens: bench.request.tokens, ...asked, ...nothing, bytesPerToken, gpuBytes, refused };
}

function figuresOf({ metrics, gpuMs, queueing }: Answer, { bytesPerToken }: Ground, roofline: Roofline): DecodeFigures {
  const { tbtMs, perToken, runAhead } = metrics;
  const tokensPerSecond = metrics.decodeTokensPerSecond ?? 0;
  const gbps = ((bytesPerToken.weights + bytesPerToken.kv) * tokensPerSecond) / 1e9;
  return {
    tokensPerSecond,
    tbtMs: gapsOf(tbtMs),
    gpuMs: gpuMs && gapsOf(gpuMs),
    cpuMsPerToken: queueing.ms / queueing.steps,
    perToken,
    runAhead,
    gbps,
    fraction: gbps / roofline.readGBps,
  };
}

/** Without the list of all gaps. */
function gapsOf({ mean, p50, p95, p99, max }: Gaps): Gaps {
  return { mean, p50, p95, p99, max };
}

function placeText({
  shape,
  context,
  runAhead,
  answer: given,
}: Pick<DecodeRow, 'shape' | 'context' | 'runAhead' | 'answer'>): string {
  return [`${shape}, context ${context}, run-ahead ${runAhead}`, ...optionTexts(given)].join(', ');
}

function describe(row: DecodeRow): string {
  const { median, refused } = row;
  return `${placeText(row)}: ${median ? `${median.tokensPerSecond.toFixed(1)} tok/s` : refused?.message}`;
}
