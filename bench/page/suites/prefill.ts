// `bench -- prefill`: prompts of several lengths through the engine's own loop, and the passes they take by the GPU's
// clock.

import type { CommandList, Submit } from '../../../src/gpu/kernel';
import { timePass } from '../../../src/gpu/time_pass';
import type { BenchResult, KernelTable, PrefillFigures, PrefillRow, Refusal, Roofline, ShapeName } from '../../report';
import type { Bench } from '../bench';
import { profileKernels } from '../measure/profile_kernels';
import { measureRoofline } from '../measure/roofline';
import { seededPrompt } from '../synthetic/seeded_tokenizer';
import { prefillOperations } from '../synthetic/synthetic_config';
import {
  type Answer,
  answer,
  openSynthetic,
  refusalOf,
  type SyntheticModel,
  syntheticBytes,
  warmUp,
} from '../synthetic/synthetic_session';

const LENGTHS = [128, 512, 2048];
const QUICK_LENGTHS = [32];
const TIMING = { minMs: 10, rounds: 3, budgetMs: 600 };
/** An idle GPU takes half a second to its full clocks. */
const WARM_MS = 800;
const QUICK = { minMs: 1, rounds: 1, budgetMs: 100 };
/** Most submits that are timed by TIMING. Where a prompt has more, one time of each makes a sum as certain. */
const MOST_TIMED = 256;
const ONCE = { ...TIMING, minMs: 1, rounds: 1 };
/** The answer's one token, and room. */
const ROOM = 16;

export async function prefillSuite(bench: Bench): Promise<BenchResult> {
  const { quant, kv, shapes, quick, lengths: asked } = bench.request;
  const roofline = await measureRoofline(bench);
  const lengths = asked ?? (quick ? QUICK_LENGTHS : LENGTHS);
  const rows: PrefillRow[] = [];
  const kernels: KernelTable[] = [];
  for (const shape of shapes) {
    if (bench.stopped) break;
    bench.say({ text: `${shape}: making the model` });
    for (const row of await measureShape(bench, shape, lengths, roofline, kernels)) {
      rows.push(row);
      bench.say({ text: describe(row), done: rows.length, total: shapes.length * lengths.length });
    }
  }
  return { suite: 'prefill', quant, kv, roofline, rows, kernels };
}

async function measureShape(
  bench: Bench,
  shape: ShapeName,
  lengths: readonly number[],
  roofline: Roofline,
  kernels: KernelTable[],
): Promise<PrefillRow[]> {
  const contextLength = Math.max(...lengths) + ROOM;
  const empty = (tokens: number, refused: Refusal | null): PrefillRow => ({
    shape,
    tokens,
    best: null,
    median: null,
    rounds: [],
    gpuMs: null,
    longestSubmitMs: null,
    tflops: null,
    fraction: null,
    attention: null,
    activations: null,
    gpuBytes: syntheticBytes(bench, shape, contextLength),
    refused,
  });
  try {
    const model = await openSynthetic(bench, shape, contextLength);
    const heard = await measureRounds(bench, shape, lengths, model);
    const rows: PrefillRow[] = [];
    for (const [tokens, answers] of heard) {
      const passes = await timeSubmits(bench, model, tokens);
      rows.push({ ...empty(tokens, null), ...figuresOf(answers, model, tokens, passes, roofline) });
      const chunk = Math.min(model.llama.passTokens, tokens);
      const table = bench.stopped ? null : await profileKernels(bench, model, shape, tokens, chunk);
      if (table) kernels.push(table);
    }
    await bench.renew(); // the next model needs the memory
    return rows;
  } catch (error) {
    const refused = await refusalOf(bench, error);
    return lengths.map((tokens) => empty(tokens, refused));
  }
}

/** Rounds of all lengths in turns; no two prompts share an id that would be found in the cache. */
async function measureRounds(
  bench: Bench,
  shape: ShapeName,
  lengths: readonly number[],
  model: SyntheticModel,
): Promise<Map<number, Answer[]>> {
  const { rounds, quick } = bench.request;
  let seed = 0;
  const prefill = (tokens: number) => {
    model.session.cachedIds = [];
    return answer(model, seededPrompt(tokens, tokens, seed++), 1);
  };
  await warmUp(() => prefill(lengths[0]), quick);
  const heard = new Map(lengths.map((tokens) => [tokens, [] as Answer[]]));
  for (let round = 0; round < rounds && !(bench.stopped && round > 0); round++) {
    for (const [tokens, answers] of heard) {
      answers.push(await prefill(tokens));
      const ms = answers.at(-1)?.metrics.ttftMs ?? 0;
      bench.say({ text: `${shape}, ${tokens} tokens: ${ms.toFixed(1)} ms` });
    }
  }
  return heard;
}

/** The submits of a prompt, each by the GPU's clock; null without one, where a pass waits for the CPU, or stopped. */
async function timeSubmits(bench: Bench, { llama }: SyntheticModel, tokens: number): Promise<number[] | null> {
  const { gpu } = bench;
  if (!gpu.can.timestamps || llama.needsHost) return null;
  const submits: Submit[] = [];
  for (let position = 0; position < tokens; position += llama.passTokens) {
    const nTokens = Math.min(llama.passTokens, tokens - position);
    const pass = llama.pass(nTokens, position + nTokens < tokens ? 'none' : 'sample', position);
    submits.push(...pass.submitsAt({ position, nTokens }).filter(({ commands }) => commands.length > 0));
  }
  const times: number[] = [];
  const usual = submits.length > MOST_TIMED ? ONCE : TIMING;
  for (const { commands, step } of submits) {
    if (bench.stopped) return null;
    const add = (list: CommandList) => list.commands.push(...commands);
    const timing = bench.request.quick ? QUICK : { ...usual, warmMs: times.length === 0 ? WARM_MS : 0 };
    times.push((await timePass(gpu, step, add, timing)).ms);
  }
  return times;
}

function figuresOf(
  answers: readonly Answer[],
  { config, llama }: SyntheticModel,
  tokens: number,
  passes: readonly number[] | null,
  roofline: Roofline,
): Partial<PrefillRow> {
  const times = answers.map(({ metrics }) => metrics.ttftMs ?? 0);
  const sorted = [...times].sort((a, b) => a - b);
  const figures = (ttftMs: number): PrefillFigures => ({ ttftMs, tokensPerSecond: (1000 * tokens) / ttftMs });
  const gpuMs = passes?.reduce((sum, ms) => sum + ms, 0) ?? null;
  const tflops = prefillOperations(config, tokens) / (gpuMs ?? sorted[0]) / 1e9;
  return {
    best: figures(sorted[0]),
    median: figures(sorted[Math.floor(sorted.length / 2)]),
    rounds: times,
    gpuMs,
    longestSubmitMs: passes && Math.max(...passes),
    tflops,
    fraction: tflops / roofline.fmaTflops,
    attention: answers.at(-1)?.metrics.attention ?? null,
    activations: llama.activations,
  };
}

function describe({ shape, tokens, median, refused }: PrefillRow): string {
  return `${shape}, ${tokens} tokens: ${median ? `${median.tokensPerSecond.toFixed(0)} tok/s` : refused?.message}`;
}
