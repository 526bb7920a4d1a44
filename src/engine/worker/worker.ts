// The worker's entry: passes messages to the model and back. One worker holds one model, and a load is its first call.

import { type Endpoint, transfer } from 'comlink';
import { InvalidRequestError } from '../../errors';
import { refuseUnknown } from '../../shared/known_names';
import { arrived } from '../../shared/part';
import { deleteModel, listModels } from '../../storage/cache/cached_models';
import { servePieces } from '../../storage/cache/piece_threads';
import { inStores } from '../../storage/cache/watched_stores';
import { type Hasher, portHasher, serveHasher } from '../../storage/source/hash_port';
import type { OnTuneResult } from '../backend/backend';
import { toFailure } from '../failure';
import { type LoadedModel, type LoadThreads, loadModel } from '../load/load';
import { resolveOptions } from '../option_values';
import { BESIDE, GENERATE_OPTIONS } from '../options';
import type {
  Embeddings,
  EngineEvent,
  LostMessage,
  PortMessages,
  Roofline,
  StartThread,
  ThreadTask,
  TuneMessage,
  Warning,
  WorkerApi,
} from '../protocol';
import { Batches } from './batch/batches';
import { generate } from './generate';
import { LateBranches, leaveConversation } from './prefix_cache/late_branches';
import { forgetPrompts, idleWriter, latePrompts } from './prefix_cache/late_prompts';
import type { InTurn } from './prefix_cache/stored_prompts';
import { encodeInput } from './request/prompt';
import { distrustCache, withMemory } from './request/reuse';
import type { Session } from './request/session';
import { serve } from './serve';
import { IdleCheck } from './turns/idle_check';
import { Pause } from './turns/pause';
import { type Turn, Turns, type WaitReason } from './turns/turns';

interface Model extends LoadedModel {
  session: Session;
}

let model: Model | null = null;
const loading = new AbortController();
/** Ends the load's waits for other tabs. */
const alone = new AbortController();
/** Warnings of the load, for the first request to report. */
let warnings: readonly Warning[] = [];
const pause = new Pause();
/** True once the GPU is lost: the page hears of the loss, and what waits is its own. */
let isLost = false;
/** Running and waiting requests, which an unload stops. */
const requests = new Set<{ stopped: boolean }>();
/** Requests take turns, because they share one cache. */
const turns = new Turns();

/** @throws InvalidRequestError before a load and after an unload */
function loaded(): Model {
  if (!model) throw new InvalidRequestError('No model is loaded.');
  return model;
}

interface Mine<Message> {
  model: Model;
  post: (messages: readonly Message[]) => void;
  stopped: () => boolean;
  turn: Turn;
}

/**
 * Runs `work` in its turn, and in no more than that unless it gives way. Sends its messages and its error through the
 * port.
 */
function enqueue<Message>(
  port: MessagePort,
  work: (mine: Mine<Message>) => Promise<void>,
  { isAlone, onWait }: { isAlone?: boolean; onWait?: (reason: WaitReason) => Message } = {},
): void {
  if (!(port instanceof MessagePort)) throw new InvalidRequestError('A request needs a port for its answer.');
  const state = { stopped: false };
  requests.add(state);
  idleCheck.busy();
  idleWrite.busy();
  port.onmessage = () => {
    state.stopped = true;
    pause.wake();
  };
  const post = (messages: PortMessages<Message>) => port.postMessage(messages);
  const stopped = () => state.stopped;
  const run = async () => {
    const tell = (reason: WaitReason) => onWait && post([onWait(reason)]);
    const turn = await turns.enter({ stopped, isAlone, onWait: tell });
    try {
      if (!turn || state.stopped || isLost) return; // stopped before its turn, or left to the page
      await work({ model: loaded(), post, stopped, turn });
    } catch (error) {
      const isAbort = state.stopped && error instanceof DOMException && error.name === 'AbortError';
      const cause = isAbort ? error : await model?.session.backend.explain?.(error);
      post([toFailure(cause ?? error, isAbort)]);
    } finally {
      requests.delete(state);
      turn?.leave();
      if (requests.size === 0) {
        idleCheck.idle();
        idleWrite.idle();
      }
    }
  };
  void run();
}

/** Runs work that ends soon after a request comes, where none is there. */
async function inIdle<T>(work: () => Promise<T>, isIdle: () => boolean): Promise<T | null> {
  const turn = await turns.enter({ stopped: () => !isIdle(), isAlone: true, isBrief: true });
  try {
    return turn && isIdle() ? await work() : null;
  } finally {
    turn?.leave();
  }
}

/** Checks the GPU after all requests so far, unless one waits. A failure of the GPU is heard by `failing`. */
const idleCheck = new IdleCheck(async () => {
  const session = model?.session;
  const recheck = await session?.backend.rechecker?.().catch(() => null); // before its turn, for which requests wait
  if (!session || !recheck) return;
  const run = async () => {
    const message = await recheck(() => requests.size > 0).catch(() => null);
    if (!message) return;
    distrustCache(session); // keys and values may be the wrong kernel's
    warnings = [...warnings, { code: 'attention-drifted', message }];
  };
  await inIdle(run, () => model?.session === session && !isLost && !pause.isOn && requests.size === 0);
});

/** Writes prompts for a later load, until a request comes. */
const idleWrite = idleWriter(() => {
  if (!model) return;
  const { session } = model;
  const goesOn = () => model?.session === session && !isLost && !pause.isOn && requests.size === 0;
  const inTurn: InTurn = (work) => inIdle(work, goesOn);
  void session.stored?.write(session, inTurn, goesOn);
});

/** Size of a file that takes longer to hash than a worker takes to start. */
const ELSEWHERE_BYTES = 32 * 2 ** 20;

async function hasherElsewhere(size: number, startThread: StartThread): Promise<Hasher | null> {
  const port = size < ELSEWHERE_BYTES ? null : await portOf('hash', startThread);
  return port && portHasher(port);
}

/** A port to a thread of the page for this task, or null. */
async function portOf(task: ThreadTask, startThread: StartThread): Promise<MessagePort | null> {
  const { port1, port2 } = new MessageChannel();
  const isThere = await startThread(transfer(port2, [port2]), task).catch(() => false);
  return isThere ? port1 : null;
}

/** Takes a new lock for good and returns its name. Null if the browser has no locks, or refuses them to this origin. */
async function holdLock(): Promise<string | null> {
  const name = `vivace-worker-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  try {
    await new Promise<void>((held, refused) => {
      const forever = () => new Promise<never>(() => held());
      navigator.locks.request(name, forever).catch(refused);
    });
    return name;
  } catch {
    return null;
  }
}

/** Longest wait for the browser's answer to the question for a GPU. */
const GPU_ANSWER_MS = 5000;

/** True if the browser grants a GPU now. A refusal, an error and a silence are all false. */
async function hasGpu(): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, GPU_ANSWER_MS, null);
  });
  try {
    return Boolean(await Promise.race([navigator.gpu.requestAdapter(), silence]));
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

const api: WorkerApi = {
  ping: () => 'pong',

  holdLock,

  async load(location, options, onProgress, startThread, before) {
    try {
      const threads: LoadThreads = {
        createHasher: (size) => hasherElsewhere(size, startThread),
        startPieceThread: () => portOf('pieces', startThread),
      };
      const made = await loadModel(location, options, onProgress, loading.signal, threads, alone.signal, before);
      const { parking } = made.session.backend;
      const lateBranches = parking && new LateBranches(parking, made.info.kvBudgetBytes ?? 0);
      turns.most = parking ? (made.info.maxConcurrent ?? 1) : 1;
      const session: Session = Object.assign(made.session, { pause, lateBranches, stored: latePrompts(made) });
      model = { ...made, session: Object.assign(session, { batches: new Batches(session, turns) }) };
      warnings = model.info.warnings;
      void lateBranches?.open(session); // now: behind the load the page sends no request by itself
      void model.session.backend.failing?.then((error) => {
        isLost = true;
        const message: LostMessage = { lost: toFailure(error), parkedBytes: session.branches?.held.bytes ?? 0 };
        postMessage(message);
      });
      return { info: model.info, form: made.session.form, isKept: model.isKept };
    } catch (error) {
      return toFailure(error, loading.signal.aborted);
    }
  },

  cancelLoad() {
    loading.abort(new DOMException('Loading was canceled.', 'AbortError'));
  },

  goOnAlone() {
    alone.abort();
  },

  hasGpu,

  pause(isPaused) {
    pause.set(isPaused);
  },

  generate({ input, options, resumed, constraint }, port) {
    const answer = async ({ model: { session }, post, stopped, turn }: Mine<EngineEvent>) => {
      if (warnings.length > 0) post(warnings.map((warning) => ({ type: 'warning', ...warning })));
      warnings = [];
      await generate(session, input, options, post, stopped, resumed, constraint, turn);
    };
    enqueue<EngineEvent>(port, answer, { onWait: (reason) => ({ type: 'queued', reason }) });
  },

  async tokenize(input, options) {
    try {
      const { thinking } = resolveOptions({ thinking: GENERATE_OPTIONS.thinking }, options, BESIDE.tokenize);
      const { ids } = await encodeInput(input, thinking, loaded().session);
      return { ids };
    } catch (error) {
      return toFailure(error);
    }
  },

  embed({ texts, options }, port) {
    enqueue<Embeddings>(port, async ({ model: { session }, post, stopped, turn }) => {
      const { embed } = await arrived(import('./embed'));
      post([await withMemory(session, () => embed(session, texts, options, stopped, turn))]);
    });
  },

  tune({ options }, port) {
    const tuning = async ({ model: { session, info }, post, stopped }: Mine<TuneMessage>) => {
      refuseUnknown(options, BESIDE.tune);
      await leaveConversation(session); // measuring overwrites the cache
      const onResult: OnTuneResult = (result, done, total) => post([{ type: 'result', result, done, total }]);
      const outcome = await withMemory(session, () => session.backend.tune(onResult, stopped));
      info.attention = outcome.attention;
      info.step = outcome.step;
      post([{ type: 'tuned', ...outcome }]);
    };
    enqueue(port, tuning, { isAlone: true });
  },

  roofline({ options }, port) {
    const measuring = async ({ model: { session }, post, stopped }: Mine<Roofline>) => {
      refuseUnknown(options, BESIDE.roofline);
      post([await withMemory(session, () => session.backend.roofline(stopped))]);
    };
    enqueue(port, measuring, { isAlone: true });
  },

  hash: serveHasher,
  pieces: (port) => servePieces(port),

  listCachedModels: () => inStores(listModels, []),

  async deleteCachedModel(location) {
    await inStores((stores) => deleteModel(stores, location), undefined);
    await forgetPrompts(location); // a running engine writes none again
  },

  async unload() {
    for (const request of requests) request.stopped = true;
    pause.wake();
    const last = await turns.enter({ stopped: () => false, isAlone: true });
    last?.leave();
    idleCheck.busy();
    idleWrite.busy();
    model?.session.backend.destroy();
    model = null;
  },
};

serve(api, globalThis as unknown as Endpoint);
