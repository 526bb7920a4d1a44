// Random histories of chats on one engine: sent, edited, regenerated, aborted and switched. Each answer must be the one
// of an engine that has answered nothing before. Shared by histories.test.ts and `npm run kv-search`.

import { CpuBackend, loadCpuWeights } from '../../src/engine/backend/cpu_backend';
import type { GenerateOptions } from '../../src/engine/protocol';
import { Branches } from '../../src/engine/worker/branches';
import { readConfig } from '../../src/model/config/read';
import { resolveTensors } from '../../src/model/tensors';
import { openModel } from '../../src/storage/model_file';
import { droppedFolder } from '../model/files';
import { randomSource } from '../random';
import { ask, numberSession, TINY } from './loop_session';

const CONTEXT = 160;
const VOCAB = 259;

/** A chat: the ids of its turns, questions and answers in turn. */
interface Chat {
  turns: number[][];
}

export interface HistoryCounts {
  requests: number;
  promptTokens: number;
  cachedTokens: number;
  parked: number;
  aborted: number;
  wrong: string[];
}

/** Opens the tiny model. Returns a player of histories. */
export async function openHistories(): Promise<(seed: number, steps: number, counts: HistoryCounts) => Promise<void>> {
  const folder = new URL(`../fixtures/llama/${TINY}`, import.meta.url).pathname;
  const files = await openModel(droppedFolder(folder));
  const config = readConfig(files);
  const weights = await loadCpuWeights(resolveTensors(files, config));
  const newBackend = () => new CpuBackend(config, weights, CONTEXT);
  const fresh = numberSession(newBackend());

  return async (seed, steps, counts) => {
    const random = randomSource(seed);
    const pick = (n: number) => Math.floor(random() * n);
    const ids = (count: number) => Array.from({ length: count }, () => pick(VOCAB));
    const backend = newBackend();
    const session = numberSession(backend);
    const budgetTokens = [0, 100, 300, 1000][pick(4)] ?? 0;
    session.branches = new Branches(backend.parking, budgetTokens * backend.parking.bytesPerToken);
    const system = ids(pick(2) === 0 ? 4 : 20);
    const chats: Chat[] = Array.from({ length: 1 + pick(4) }, () => ({ turns: [] }));
    let chat = chats[0] as Chat;
    for (let step = 0; step < steps; step++) {
      if (pick(2) === 0) chat = chats[pick(chats.length)] as Chat;
      const edits = pick(6);
      if (edits === 0) chat.turns.splice(2 * pick(1 + chat.turns.length / 2)); // the question there is edited
      const isAgain = edits === 1 && chat.turns.length > 0; // the answer is made again
      if (isAgain) chat.turns.splice(-1);
      else chat.turns.push(ids(8 + pick(16)));
      let prompt = [...system, ...chat.turns.flat()];
      if (prompt.length > CONTEXT - 20) {
        chat.turns = [ids(8 + pick(16))];
        prompt = [...system, ...chat.turns.flat()];
      }
      const options: GenerateOptions = { temperature: 0.9, seed: pick(2 ** 32), maxTokens: 1 + pick(10) };
      if (pick(4) === 0) options.repetitionPenalty = 1.3;
      if (pick(8) === 0) options.reuseCache = false;
      if (pick(12) === 0) await session.branches.leave(session);
      const end = pick(4) === 0 ? pick(12) : Number.POSITIVE_INFINITY; // in the prompt, or after some tokens
      const heard = await ask(session, { ids: prompt }, options, { stopped: (checks) => checks >= end });
      const { usage, metrics, finishReason } = heard.done;
      counts.requests++;
      counts.promptTokens += usage.promptTokens;
      counts.cachedTokens += usage.cachedTokens;
      if (metrics.cache?.report === 'parked') counts.parked++;
      if (finishReason === 'abort') counts.aborted++;
      fresh.cachedIds = [];
      const wanted = await ask(fresh, { ids: prompt }, { ...options, reuseCache: false });
      const same = wanted.ids.slice(0, heard.ids.length);
      const isWhole = finishReason === 'abort' || heard.ids.length === wanted.ids.length;
      if (!isWhole || heard.ids.join() !== same.join()) {
        counts.wrong.push(`seed ${seed}, step ${step}: ${heard.ids.join(' ')} instead of ${wanted.ids.join(' ')}`);
      }
      chat.turns.push(heard.ids);
    }
  };
}

export function newCounts(): HistoryCounts {
  return { requests: 0, promptTokens: 0, cachedTokens: 0, parked: 0, aborted: 0, wrong: [] };
}
