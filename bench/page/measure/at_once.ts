// Requests at once: tokens a second of all of them together, each with a prompt and a text of its own.

import type { EngineEvent } from '../../../src/engine/protocol';
import { Batches } from '../../../src/engine/worker/batch/batches';
import { generate } from '../../../src/engine/worker/generate';
import { Branches } from '../../../src/engine/worker/prefix_cache/branches';
import { Turns } from '../../../src/engine/worker/turns/turns';
import type { AtOnce } from '../../report';
import { seededPrompt } from '../synthetic/seeded_tokenizer';
import type { SyntheticModel } from '../synthetic/synthetic_session';

const REQUESTS = [1, 2, 4, 8];
/** Prompt tokens of each request. */
export const PROMPT = 16;
/** Room for the slots of all. */
const BUDGET = 2 ** 34;

/** The figures for 1, 2, 4 and 8 requests of `tokens` tokens each, from a run behind one that compiles. */
export async function measureAtOnce(model: SyntheticModel, tokens: number): Promise<AtOnce[]> {
  const { session } = model;
  const { parking } = session.backend;
  if (!parking) return [];
  session.branches = new Branches(parking, BUDGET);
  const turns = new Turns();
  turns.most = Math.max(...REQUESTS);
  session.batches = new Batches(session, turns);
  let seed = 1;
  const run = async (gpuTimes: boolean) => {
    const turn = await turns.enter({ stopped: () => false });
    const times: number[] = [];
    let dispatches = 0;
    let gpuMs: number | null = null;
    const hear = (events: readonly EngineEvent[]) => {
      for (const event of events) {
        if (event.type === 'token') times.push(event.atMs);
        if (event.type === 'done') dispatches = event.metrics.perToken?.dispatches ?? 0;
        if (event.type === 'gpuTimes') gpuMs = event.gpuMs?.p50 ?? null;
      }
    };
    const options = { maxTokens: tokens, temperature: 0, seed: 0, ignoreEos: true, reuseCache: false, gpuTimes };
    const input = { prompt: seededPrompt(PROMPT, PROMPT, seed++) };
    await generate(session, input, options, hear, () => false, undefined, undefined, turn!).finally(() =>
      turn!.leave(),
    );
    return { times, dispatches, gpuMs };
  };
  const together = (requests: number, gpuTimes = false) =>
    Promise.all(Array.from({ length: requests }, () => run(gpuTimes)));
  await session.backend.prepareBatch?.(turns.most, session.backend.contextLength); // the budget has room for all
  await together(turns.most); // fetches, checks and times the batch
  const measured: AtOnce[] = [];
  for (const requests of REQUESTS) {
    const ran = await together(requests);
    const times = ran.map((each) => each.times);
    const all = times.flat();
    const start = Math.max(...times.map((each) => each[0])); // all prompts have run
    const end = Math.min(...times.map((each) => each[each.length - 1])); // none has ended
    const between = all.filter((at) => at > start && at <= end).length;
    const [{ dispatches }] = ran;
    const [{ gpuMs }] = await together(requests, true);
    measured.push({ requests, tokensPerSecond: (1000 * between) / (end - start), dispatches, gpuMs });
  }
  session.branches.giveUp();
  session.branches = undefined;
  session.batches = undefined;
  session.cachedIds = [];
  return measured;
}
