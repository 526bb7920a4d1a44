// Random histories of chats on one engine: sent, edited, regenerated, aborted and switched, and of reloads that find
// prompts in storage, after tabs that died while writing. Each answer must be that of an engine with no history. Shared
// by histories.test.ts and `npm run kv-search`.

import { CpuBackend, loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import type { GenerateOptions } from '../../../src/engine/protocol';
import { Branches } from '../../../src/engine/worker/branches';
import type { Session } from '../../../src/engine/worker/session';
import { StoredPrompts } from '../../../src/engine/worker/stored_prompts';
import { Turns } from '../../../src/engine/worker/turns';
import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/tensors';
import { openModel } from '../../../src/storage/model_file';
import { openPromptFiles } from '../../../src/storage/prompts/prompt_files';
import { PromptStore } from '../../../src/storage/prompts/prompt_store';
import { droppedFolder } from '../../model/files';
import { randomSource } from '../../random';
import { FakeFolder } from '../../storage/prompts/fake_folder';
import { type Answer, ask, numberSession, TINY } from '../doubles/loop_session';

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
  /** Answers that others ran beside. */
  beside: number;
  wrong: string[];
}

/** Plays `steps` requests, or groups of up to `beside` requests that run beside each other. */
type Player = (seed: number, steps: number, counts: HistoryCounts, beside?: number) => Promise<void>;

interface Request {
  chat: Chat;
  prompt: number[];
  options: GenerateOptions;
  /** The check at which it is stopped: in the prompt, after some tokens, or never. */
  end: number;
}

/** Opens the tiny model. Returns a player of histories. */
export async function openHistories(): Promise<Player> {
  const folder = new URL(`../../fixtures/llama/${TINY}`, import.meta.url).pathname;
  const files = await openModel(droppedFolder(folder));
  const config = readConfig(files);
  const weights = await loadCpuWeights(resolveTensors(files, config));
  const newBackend = () => new CpuBackend(config, weights, CONTEXT);
  const fresh = numberSession(newBackend());

  return async (seed, steps, counts, beside = 1) => {
    const random = randomSource(seed);
    const pick = (n: number) => Math.floor(random() * n);
    const ids = (count: number) => Array.from({ length: count }, () => pick(VOCAB));
    let backend = newBackend();
    const folder = new FakeFolder();
    let session = numberSession(backend);
    const budget = backend.parking.bytesOf([0, 100, 300, 1000][pick(4)] ?? 0);
    const load = () => {
      backend = newBackend();
      session = numberSession(backend);
      session.branches = new Branches(backend.parking, budget);
      session.stored = storedIn(folder, backend, pick(2) === 0 ? 'all' : 'system');
    };
    load();
    const system = ids(pick(2) === 0 ? 4 : 20);
    const chats: Chat[] = Array.from({ length: Math.max(beside, 1 + pick(4)) }, () => ({ turns: [] }));
    let chat = chats[0] as Chat;
    const requestOf = (chat: Chat): Request => {
      const prompt = promptOf(chat, system, pick);
      const options: GenerateOptions = { temperature: 0.9, seed: pick(2 ** 32), maxTokens: 1 + pick(10) };
      if (pick(4) === 0) options.repetitionPenalty = 1.3;
      if (pick(8) === 0) options.reuseCache = false;
      return { chat, prompt, options, end: Number.POSITIVE_INFINITY };
    };
    for (let step = 0; step < steps; step++) {
      if (pick(2) === 0) chat = chats[pick(chats.length)] as Chat;
      const others = chats.filter((other) => other !== chat);
      const more = beside > 1 ? others.slice(0, pick(beside)) : [];
      const requests = [chat, ...more].map(requestOf);
      if (pick(12) === 0) await session.branches?.leave(session);
      for (const request of requests) if (pick(4) === 0) request.end = pick(12);
      const answers = await askBeside(session, requests, beside > 1 ? 1 + pick(beside) : 1);
      for (const [i, { chat, prompt, options }] of requests.entries()) {
        const { ids, done } = answers[i] ?? { ids: [], done: null };
        count(counts, done);
        fresh.cachedIds = [];
        const wanted = await ask(fresh, { ids: prompt }, { ...options, reuseCache: false });
        const isWhole = done?.finishReason !== 'abort' && done !== null;
        const same = isWhole ? wanted.ids : wanted.ids.slice(0, ids.length);
        if (ids.join() !== same.join()) {
          counts.wrong.push(`seed ${seed}, step ${step}.${i}: ${ids.join(' ')} instead of ${wanted.ids.join(' ')}`);
        }
        chat.turns.push(ids);
      }
      const { bytes } = session.branches?.held ?? { bytes: 0 };
      if (bytes > budget) counts.wrong.push(`seed ${seed}, step ${step}: ${bytes} bytes parked of ${budget}`);
      session.stored?.note(session.cachedIds, () => system.length, 1);
      if (pick(3) === 0) await write(session, folder, pick(4) === 0 ? pick(30) : Number.POSITIVE_INFINITY);
      if (pick(4) === 0) load();
    }
  };
}

/** The next prompt of a chat: a new question, an edited one, or that of an answer that is made again. */
function promptOf(chat: Chat, system: readonly number[], pick: (n: number) => number): number[] {
  const question = () => Array.from({ length: 8 + pick(16) }, () => pick(VOCAB));
  const edits = pick(6);
  if (edits === 0) chat.turns.splice(2 * pick(1 + chat.turns.length / 2));
  const isAgain = edits === 1 && chat.turns.length > 0;
  if (isAgain) chat.turns.splice(-1);
  else chat.turns.push(question());
  const prompt = [...system, ...chat.turns.flat()];
  if (prompt.length <= CONTEXT - 20) return prompt;
  chat.turns = [question()];
  return [...system, ...chat.turns.flat()];
}

/** Runs requests in turns of one check each, at most `most` begun at a time. Null for one that was stopped before. */
function askBeside(session: Session, requests: readonly Request[], most: number): Promise<(Answer | null)[]> {
  let ticks = 0;
  const turns = new Turns(0, () => ticks++);
  turns.most = most;
  return Promise.all(
    requests.map(async ({ prompt, options, end }) => {
      let isStopped = end === 0 && requests.length > 1; // before it begins
      const turn = await turns.enter({ stopped: () => isStopped });
      if (!turn) return null;
      const stopped = (checks: number) => {
        isStopped ||= checks >= end;
        return isStopped;
      };
      const own = requests.length > 1 ? { stopped, turn } : { stopped };
      return ask(session, { ids: prompt }, options, own).finally(() => turn.leave());
    }),
  );
}

function count(counts: HistoryCounts, done: Answer['done'] | null): void {
  counts.requests++;
  if (!done || done.finishReason === 'abort') counts.aborted++;
  if (!done) return;
  const { usage, metrics } = done;
  counts.promptTokens += usage.promptTokens;
  counts.cachedTokens += usage.cachedTokens;
  if (metrics.cache?.report === 'parked') counts.parked++;
  if (metrics.cache?.report === 'stored') counts.stored++;
  if ((metrics.othersMs ?? 0) > 0) counts.beside++;
}

export function newCounts(): HistoryCounts {
  return { requests: 0, promptTokens: 0, cachedTokens: 0, parked: 0, stored: 0, aborted: 0, beside: 0, wrong: [] };
}

/** What an engine has of earlier ones, in a store of a few pieces. */
function storedIn(folder: FakeFolder, backend: CpuBackend, keeps: 'system' | 'all'): StoredPrompts {
  const { bytesPerToken } = backend.parking;
  const kv = backend.kvBytes();
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
