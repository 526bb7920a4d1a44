// Random histories of chats on one engine: sent, edited, regenerated, aborted and switched, and of reloads that find
// prompts in storage, after tabs that died while writing. Each answer must be that of an engine with no history. Shared
// by histories.test.ts and `npm run kv-search`.

import { CpuBackend, loadCpuWeights } from '../../src/engine/backend/cpu_backend';
import type { GenerateOptions } from '../../src/engine/protocol';
import { Branches } from '../../src/engine/worker/branches';
import type { Session } from '../../src/engine/worker/session';
import { StoredPrompts } from '../../src/engine/worker/stored_prompts';
import { readConfig } from '../../src/model/config/read';
import { resolveTensors } from '../../src/model/tensors';
import { openModel } from '../../src/storage/model_file';
import { openPromptFiles } from '../../src/storage/prompts/prompt_files';
import { PromptStore } from '../../src/storage/prompts/prompt_store';
import { droppedFolder } from '../model/files';
import { randomSource } from '../random';
import { FakeFolder } from '../storage/prompts/fake_folder';
import { ask, numberSession, TINY } from './loop_session';

const CONTEXT = 160;
/** Of a piece in storage. */
const PIECE = 16;
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
  stored: number;
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
    let backend = newBackend();
    const folder = new FakeFolder();
    let session = numberSession(backend);
    const budgetTokens = [0, 100, 300, 1000][pick(4)] ?? 0;
    const load = () => {
      backend = newBackend();
      session = numberSession(backend);
      session.branches = new Branches(backend.parking, budgetTokens * backend.parking.bytesPerToken);
      session.stored = storedIn(folder, backend, pick(2) === 0 ? 'all' : 'system');
    };
    load();
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
      if (pick(12) === 0) await session.branches?.leave(session);
      const end = pick(4) === 0 ? pick(12) : Number.POSITIVE_INFINITY; // in the prompt, or after some tokens
      const heard = await ask(session, { ids: prompt }, options, { stopped: (checks) => checks >= end });
      const { usage, metrics, finishReason } = heard.done;
      counts.requests++;
      counts.promptTokens += usage.promptTokens;
      counts.cachedTokens += usage.cachedTokens;
      if (metrics.cache?.report === 'parked') counts.parked++;
      if (metrics.cache?.report === 'stored') counts.stored++;
      if (finishReason === 'abort') counts.aborted++;
      fresh.cachedIds = [];
      const wanted = await ask(fresh, { ids: prompt }, { ...options, reuseCache: false });
      const same = wanted.ids.slice(0, heard.ids.length);
      const isWhole = finishReason === 'abort' || heard.ids.length === wanted.ids.length;
      if (!isWhole || heard.ids.join() !== same.join()) {
        counts.wrong.push(`seed ${seed}, step ${step}: ${heard.ids.join(' ')} instead of ${wanted.ids.join(' ')}`);
      }
      chat.turns.push(heard.ids);
      session.stored?.note(session.cachedIds, () => system.length, 1);
      if (pick(3) === 0) await write(session, folder, pick(4) === 0 ? pick(30) : Number.POSITIVE_INFINITY);
      if (pick(4) === 0) load();
    }
  };
}

export function newCounts(): HistoryCounts {
  return { requests: 0, promptTokens: 0, cachedTokens: 0, parked: 0, stored: 0, aborted: 0, wrong: [] };
}

/** What an engine has of earlier ones, in a store of a few pieces. */
function storedIn(folder: FakeFolder, { kvBytes: kv, parking }: CpuBackend, keeps: 'system' | 'all'): StoredPrompts {
  const { bytesPerToken } = parking;
  const open = async () => PromptStore.open(await openPromptFiles(folder.root), 12 * PIECE * bytesPerToken);
  const location = 'model';
  const model = Promise.resolve({ location, root: '', isKept: async () => true });
  const sizes = { leastStored: PIECE, pieceTokens: PIECE, now: () => 0 };
  return new StoredPrompts({ store: open(), location, model, kv, bytesPerToken, keeps, ...sizes });
}

/** Writes as in idle, in a tab that dies at an operation, or lives. A dead one is loaded anew. */
async function write(session: Session, folder: FakeFolder, operations: number): Promise<void> {
  folder.diesAt = folder.operations + operations;
  await session.stored?.write(
    session,
    (work) => work(),
    () => true,
  );
  folder.revive();
}
