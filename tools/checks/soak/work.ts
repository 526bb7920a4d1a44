// The page's part of the soak, evaluated inside a page, so it names nothing outside of its functions.

import type { Engine, EngineEvent } from '../../../src/engine/engine';
import type { Faults } from '../../faults/page';
import type { Task } from './task';

interface SoakWindow {
  vivace: { Engine: typeof Engine };
  vivaceFaults: Faults;
  engine: Engine | null;
}

export interface Outcome {
  /** `hung`: not settled within the bound. */
  end: 'ok' | 'error' | 'hung';
  /** The text, the ids or the vectors, as one string. */
  said: string;
  /** Tokens of an answer. */
  tokens: number;
  /** The code of the error, or its name for one that is not typed. */
  code: string;
  message: string;
  ms: number;
  /** Longest silence after a fault, until a token, an end or an error. */
  pauseMs: number;
  /** 'interrupted device-lost', 'recovered webgpu', in order. */
  events: string[];
  backend: string;
}

export interface LoadRequest {
  model: string;
  plan: string;
  cache: boolean;
  backend: 'cpu' | 'webgpu';
  boundMs: number;
  /** Default 512. */
  contextLength?: number;
  /** The wait for another tab after which the load goes on alone. Default 3000. */
  patienceMs?: number;
}

/** Loads a model into `window.engine`. */
export async function load(request: LoadRequest): Promise<Outcome> {
  const { model, plan, cache, backend, boundMs, contextLength = 512, patienceMs = 3000 } = request;
  const view = window as unknown as SoakWindow;
  const began = performance.now();
  const outcome: Outcome = {
    end: 'ok',
    said: '',
    tokens: 0,
    code: '',
    message: '',
    ms: 0,
    pauseMs: 0,
    events: [],
    backend: '',
  };
  view.vivaceFaults.plan(plan);
  const gpu = backend === 'cpu' ? 'cpu' : 'auto'; // a refused GPU leaves the CPU
  let waits = false;
  const onProgress = (progress: { waitsMs?: number; goOnAlone?(): void }) => {
    if (progress.waitsMs !== undefined && !waits) outcome.events.push(`waits ${Math.round(progress.waitsMs / 1000)}`);
    if (progress.waitsMs !== undefined) waits = true;
    if ((progress.waitsMs ?? 0) > patienceMs) progress.goOnAlone?.();
  };
  const loading = view.vivace.Engine.load(model, {
    cache,
    backend: gpu,
    activations: 'f32',
    contextLength,
    onProgress,
  });
  const late = new Promise<'late'>((resolve) => setTimeout(resolve, boundMs, 'late'));
  try {
    const engine = await Promise.race([loading, late]);
    if (engine === 'late') outcome.end = 'hung';
    else {
      view.engine = engine;
      outcome.backend = engine.info.backend;
      outcome.events.push(...engine.info.warnings.map(({ code }) => `warning ${code}`));
    }
  } catch (error) {
    const { code, name, message } = error as Error & { code?: unknown };
    Object.assign(outcome, { end: 'error', code: typeof code === 'string' ? code : name, message });
  }
  outcome.ms = performance.now() - began;
  return outcome;
}

/** Runs a task on `window.engine`. */
export async function work({ task, boundMs }: { task: Task; boundMs: number }): Promise<Outcome> {
  const view = window as unknown as SoakWindow;
  const engine = view.engine!;
  const began = performance.now();
  const done = { said: '', events: [] as string[], pauseMs: 0, tokens: 0, struckAt: 0 };
  const stop = new AbortController();
  const strike = () => {
    if (!task.strike || done.struckAt > 0) return;
    done.struckAt = performance.now();
    view.vivaceFaults.now(task.strike.fault as Parameters<Faults['now']>[0]);
  };
  const heard = () => {
    if (done.struckAt === 0) return;
    done.pauseMs = Math.max(done.pauseMs, performance.now() - done.struckAt);
    done.struckAt = performance.now();
  };
  const take = (event: EngineEvent) => {
    heard();
    if (event.type === 'token' || event.type === 'done' || event.type === 'reasoning') done.said += event.text;
    if (event.type === 'interrupted' || event.type === 'warning') done.events.push(`${event.type} ${event.code}`);
    if (event.type === 'recovered') done.events.push(`recovered ${event.backend}`);
    if (event.type !== 'token') return;
    if (task.strike?.at === 'decode' && done.tokens === task.strike.after) strike();
    if (task.kind === 'abort' && done.tokens === task.abortAfter) stop.abort();
    done.tokens++;
  };
  const answer = async (content: string, options: object) => {
    const reuseCache = engine.info.backend !== 'webgpu'; // on a GPU a prefix from the cache rounds otherwise
    const asked = engine.chat([{ role: 'user', content }], { ...options, reuseCache, signal: stop.signal });
    for await (const event of asked) take(event);
  };
  const tune = async () => {
    const onResult = (_: unknown, measured: number) => void (measured === 3 && stop.abort());
    const isAbort = (error: Error) => error.name === 'AbortError' || Promise.reject(error);
    await engine.tune({ signal: stop.signal, onResult }).catch(isAbort);
  };
  const run = async () => {
    if (task.strike && task.strike.at !== 'decode') setTimeout(strike, task.strike.after);
    if ('prompt' in task) {
      const { temperature, seed, maxTokens, ignoreEos } = task;
      await answer(task.prompt, { temperature, seed, maxTokens, ignoreEos });
    } else if (task.kind === 'embed')
      done.said = String((await engine.embed(task.texts)).vectors.map((v) => v.slice(0, 4)));
    else if (task.kind === 'tokenize')
      done.said = String(await Promise.all(task.texts.map((text) => engine.tokenize(text))));
    else if (task.kind === 'tune') await tune();
    else if (task.kind === 'idle') {
      await new Promise((resolve) => setTimeout(resolve, (task.strike?.after ?? 0) + 50));
      await answer('hello', { temperature: 0 });
    } else await engine.unload();
  };
  const late = new Promise<'hung'>((resolve) => setTimeout(resolve, boundMs, 'hung'));
  const end = await Promise.race([
    run().then(
      () => 'ok' as const,
      (error: Error) => error,
    ),
    late,
  ]);
  heard();
  const error = typeof end === 'string' ? null : (end as Error & { code?: unknown });
  const backend = done.events.findLast((event) => event.startsWith('recovered'))?.slice(10) ?? engine.info.backend;
  return {
    ...done,
    end: typeof end === 'string' ? end : 'error',
    code: error ? (typeof error.code === 'string' ? error.code : error.name) : '',
    message: error?.message ?? '',
    ms: performance.now() - began,
    backend,
  };
}

/** Unloads, and says how many workers live on. */
export async function unload(boundMs: number): Promise<{ hung: boolean; workers: number; health: string }> {
  const view = window as unknown as SoakWindow;
  const health = view.engine?.health.state ?? 'none';
  const late = new Promise<'late'>((resolve) => setTimeout(resolve, boundMs, 'late'));
  const ended = await Promise.race([view.engine?.unload(), late]);
  view.engine = null;
  return { hung: ended === 'late', workers: view.vivaceFaults.workers.length, health };
}
