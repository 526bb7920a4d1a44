// `bench -- baseline`: attention through the CPU against attention on the GPU, in an answer of the chat model and
// alone.

import { selectAttention } from '../../../src/attention/select';
import type { Engine as EngineClass } from '../../../src/engine/engine';
import { VivaceError } from '../../../src/errors';
import type { BaselineAlone, BaselineChat, BaselineRow, BenchResult, ShapeName } from '../../report';
import { headShape } from '../../shapes';
import type { Bench } from '../bench';
import { measureAttention } from '../measure/measure_attention';
import { measureRoofline } from '../measure/roofline';
import { coldPairs, openStation } from '../measure/station';

/** The engine as people load it, its worker inside. */
const ENGINE = '/lib/vivace.js';

const ROWS = [
  { title: 'CPU round trip', attention: 'cpu' },
  { title: 'GPU attention', attention: 'auto' },
] as const;

/** The measured work: attention alone at this shape and cache length, and an answer of so many tokens. */
interface Size {
  shape: ShapeName;
  kvLen: number;
  tokens: number;
}

const FULL: Size = { shape: 'llama-3.2-1b', kvLen: 2048, tokens: 64 };
const QUICK: Size = { shape: 'storyteller', kvLen: 256, tokens: 8 };

export async function baselineSuite(bench: Bench): Promise<BenchResult> {
  const size = bench.request.quick ? QUICK : FULL;
  const roofline = await measureRoofline(bench);
  const rows: BaselineRow[] = [];
  let model: string | null = null;
  for (const { title, attention } of ROWS) {
    if (bench.stopped) break;
    bench.say({ text: `${title}: attention alone` });
    const alone = await orRefused(() => measureAlone(bench, attention, size));
    bench.say({ text: `${title}: the chat model` });
    const chat = await orRefused(() => answer(bench, attention, size.tokens));
    model ??= chat.value?.model ?? null;
    rows.push({
      title,
      chat: chat.value?.chat ?? null,
      chatRefused: chat.refused,
      alone: alone.value,
      aloneRefused: alone.refused,
    });
  }
  const [cpu, gpu] = rows;
  const lowerBy = {
    avgTbt: percentBelow(cpu?.chat?.avgTbtMs, gpu?.chat?.avgTbtMs),
    attention: percentBelow(cpu?.alone?.ms, gpu?.alone?.ms),
  };
  const sameIds = cpu?.chat && gpu?.chat ? String(cpu.chat.ids) === String(gpu.chat.ids) : null;
  return { suite: 'baseline', roofline, rows, lowerBy, sameIds, model, aloneShape: size.shape, aloneKvLen: size.kvLen };
}

function percentBelow(cpuMs: number | null | undefined, gpuMs: number | null | undefined): number | null {
  return cpuMs && gpuMs ? 100 * (1 - gpuMs / cpuMs) : null;
}

/** A typed error becomes the reason in the table; anything else is a defect and ends the suite. */
async function orRefused<T>(work: () => Promise<T>): Promise<{ value: T | null; refused: string | null }> {
  try {
    return { value: await work(), refused: null };
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown };
    if (typeof code !== 'string') throw error; // the engine's classes are those of another bundle, so no instanceof
    return { value: null, refused: message };
  }
}

async function measureAlone(
  bench: Bench,
  attention: 'cpu' | 'auto',
  { shape: shapeName, kvLen }: Size,
): Promise<BaselineAlone> {
  const { gpu, request } = bench;
  const shape = { ...headShape(shapeName), contextLength: kvLen, maxTokens: 1, kvType: request.kv };
  const { limits } = gpu;
  const { name, parameters } = selectAttention({ nTokens: 1, kvLen, shape, limits, forced: attention });
  const station = await openStation(gpu, shape, 1, coldPairs(shape, request.quick));
  try {
    const { ms, clock } = await measureAttention(bench, station, name, parameters);
    return { ms, name, parameters, clock };
  } finally {
    station.destroy();
  }
}

/** One greedy answer after a prompt of about `context` tokens. */
async function answer(
  bench: Bench,
  attention: 'cpu' | 'auto',
  maxTokens: number,
): Promise<{ model: string; chat: BaselineChat }> {
  const { request, signal } = bench;
  const { Engine }: { Engine: typeof EngineClass } = await import(/* @vite-ignore */ ENGINE);
  const engine = await Engine.load(new URL(request.model, location.href).href, {
    attention,
    kvCache: request.kv,
    activations: 'f32', // so that both answers are the same, id for id
    cache: false,
    signal,
  });
  try {
    const promptTokens = Math.min(request.context, engine.info.contextLength - maxTokens);
    const prompt = await promptOf(engine, promptTokens);
    return { model: engine.info.model.name, chat: await complete(engine, prompt, maxTokens, signal) };
  } finally {
    await engine.unload();
  }
}

const SENTENCE = 'Once upon a time there was a brave little cat who lived in a house near the forest. ';

/** Sentences that together have at most that many tokens; asking for their number also warms the engine up. */
async function promptOf(engine: EngineClass, tokens: number): Promise<string> {
  const count = async (sentences: number) => (await complete(engine, SENTENCE.repeat(sentences), 1)).promptTokens;
  const [one, two] = [await count(1), await count(2)];
  return SENTENCE.repeat(Math.max(1, 1 + Math.floor((tokens - one) / (two - one))));
}

async function complete(
  engine: EngineClass,
  prompt: string,
  maxTokens: number,
  signal?: AbortSignal,
): Promise<BaselineChat> {
  const ids: number[] = [];
  for await (const event of engine.complete(prompt, { maxTokens, temperature: 0, signal })) {
    if (event.type === 'token') ids.push(event.id);
    if (event.type !== 'done') continue;
    const { metrics, usage } = event;
    return { avgTbtMs: metrics.tbtMs.mean, metrics, promptTokens: usage.promptTokens, ids };
  }
  throw new VivaceError('internal', 'The engine ended without saying why.');
}
