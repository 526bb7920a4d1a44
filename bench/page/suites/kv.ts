// `bench -- kv`: two chats that take turns on one cache. What a parked chat takes, how long its copies take, and the
// time to the first token of a chat that is new, that comes back, that never left, and that is there after a reload.

import { Branches } from '../../../src/engine/worker/prefix_cache/branches';
import type { BenchResult, KvFigures, KvRow, Refusal, ShapeName } from '../../report';
import type { Bench } from '../bench';
import { measureAtOnce, PROMPT } from '../measure/at_once';
import { measureStored } from '../measure/stored';
import { seededPrompt } from '../synthetic/seeded_tokenizer';
import {
  type Answer,
  answer,
  openSynthetic,
  refusalOf,
  type SyntheticModel,
  warmUp,
} from '../synthetic/synthetic_session';

const LENGTHS = [512, 1024, 4096];
const QUICK_LENGTHS = [32];
/** The answer's tokens, and room. */
const TOKENS = 2;
const ROOM = 16;
/** Room for all that a row parks. */
const BUDGET = 2 ** 34;
/** Copies in one measurement: browsers tell of finished work milliseconds late. */
const COPIES = 8;

export async function kvSuite(bench: Bench): Promise<BenchResult> {
  const { quant, kv, shapes, quick, lengths: asked } = bench.request;
  const lengths = asked ?? (quick ? QUICK_LENGTHS : LENGTHS);
  const rows: KvRow[] = [];
  for (const shape of shapes) {
    if (bench.stopped) break;
    bench.say({ text: `${shape}: making the model` });
    for (const row of await measureShape(bench, shape, lengths)) {
      rows.push(row);
      bench.say({ text: `${shape}, ${row.tokens} tokens`, done: rows.length, total: shapes.length * lengths.length });
    }
  }
  return { suite: 'kv', quant, kv, rows };
}

async function measureShape(bench: Bench, shape: ShapeName, lengths: readonly number[]): Promise<KvRow[]> {
  const row = (tokens: number, measured: KvFigures | null, refused: Refusal | null = null): KvRow => ({
    shape,
    tokens,
    measured,
    refused,
  });
  try {
    const model = await openSynthetic(bench, shape, Math.max(...lengths) + ROOM);
    const rows: KvRow[] = [];
    for (const tokens of lengths) if (!bench.stopped) rows.push(row(tokens, await measureTurns(bench, model, tokens)));
    await bench.renew(); // the next model needs the memory
    return rows;
  } catch (error) {
    const refused = await refusalOf(bench, error);
    return lengths.map((tokens) => row(tokens, null, refused));
  }
}

async function measureTurns(bench: Bench, model: SyntheticModel, tokens: number): Promise<KvFigures> {
  const { session } = model;
  const { parking } = session.backend;
  if (!parking) throw new Error('this backend parks nothing');
  let seed = 1000 * tokens; // no two prompts share an id
  const prompt = () => seededPrompt(tokens, tokens, seed++);
  await warmUp(() => answer(model, prompt(), TOKENS), bench.request.quick);
  const heard: Record<'cold' | 'back' | 'live', Answer[]> = { cold: [], back: [], live: [] };
  for (let round = 0; round < bench.request.rounds; round++) {
    const branches = new Branches(parking, BUDGET);
    session.branches = branches;
    const [a, b] = [prompt(), prompt()];
    const read = async (heard: Answer[], ids: string) => {
      heard.push(await answer(model, ids, TOKENS));
      await branches.makeReady(session); // a person who reads takes longer
    };
    await read(heard.cold, a);
    await read(heard.cold, b);
    await read(heard.back, a);
    await read(heard.live, a);
    branches.giveUp();
  }
  session.branches = undefined;
  const stored = await measureStored(model, prompt(), TOKENS, bench.request.rounds).catch(() => null);
  const atOnce = await measureAtOnce(model, Math.max(1, tokens + ROOM - PROMPT));
  const ttft = (answers: readonly Answer[]) => median(answers.map(({ metrics }) => metrics.ttftMs ?? 0));
  return {
    bytes: tokens * parking.bytesPerToken,
    ...(await timeCopies(bench, model, tokens)),
    coldMs: ttft(heard.cold),
    backMs: ttft(heard.back),
    liveMs: ttft(heard.live),
    cachedTokens: Math.min(...heard.back.map(({ usage }) => usage.cachedTokens)),
    stored,
    atOnce,
  };
}

/** Mean times of a copy out of the cache, with its buffers, and of one back into it. */
async function timeCopies(
  { gpu }: Bench,
  { session }: SyntheticModel,
  tokens: number,
): Promise<{ parkMs: number; restoreMs: number }> {
  const ids = new Uint32Array(tokens);
  let parkMs = 0;
  let restoreMs = 0;
  for (let i = 0; i < COPIES; i++) {
    const started = performance.now();
    const copy = await session.backend.parking?.park(tokens);
    await gpu.workDone();
    const parked = performance.now();
    for (let k = 0; k < COPIES; k++) copy?.restore(ids);
    await gpu.workDone();
    parkMs += (parked - started) / COPIES;
    restoreMs += (performance.now() - parked) / COPIES ** 2;
    copy?.destroy();
  }
  session.cachedIds = []; // keys and values are those of other ids
  return { parkMs, restoreMs };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
