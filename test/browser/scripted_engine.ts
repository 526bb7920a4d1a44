// An engine that answers by a script, in the real built page. The test chooses text, speed and end, without a model.
// Requests are recorded in `window.__asked`.

import type { Page } from 'playwright-core';
import type { Health } from '../../src/engine/engine';
import type { ChatMessage, FinishReason, ThinkingAbility } from '../../src/engine/protocol';
import { type Site, type Visit, visit } from './site';

interface ScriptedAnswer {
  /** Comes before the text, unless the request switches thinking off. */
  thought?: string;
  text?: string;
  /** Calls of tools after the text. One with an `error` cannot be read. */
  calls?: { name: string; arguments: string; error?: string }[];
  /** Letters per token. Default: 4. */
  piece?: number;
  /** Milliseconds before each token. Default: 0, as fast as microtasks allow. */
  gapMs?: number;
  /** Finish reason, unless the user, `maxTokens` or the context ends the answer first. Default: 'eos'. */
  finishReason?: FinishReason;
  /** Default: 4 per message plus a quarter of its letters. */
  promptTokens?: number;
  /** Number of tokens after which the answer waits for `release(page)`. */
  holdAfter?: number;
  /** A loss after so many tokens; the answer goes on `pauseMs` after it, once `release(page)` is called. */
  loss?: { after: number; code: string; message: string; pauseMs: number };
  /** Thrown after `errorAfter` tokens (default 0). An empty `code` makes it an untyped error. */
  error?: { code: string; message: string };
  errorAfter?: number;
}

export interface Script {
  /** The answers to successive questions. The last one repeats. */
  answers: ScriptedAnswer[];
  /** Default: 1024. A longer prompt is refused; an answer ends at the limit. */
  contextLength?: number;
  hasChatTemplate?: boolean;
  /** Default: 'none'. */
  thinking?: ThinkingAbility;
  /** True for a model that writes no text. */
  embedsOnly?: boolean;
}

/** One request as the engine received it. */
export interface Asked {
  messages: ChatMessage[] | null;
  prompt: string | null;
  options: Record<string, unknown>;
}

/** The engine's health, with its cause as plain fields. */
export type ScriptedHealth =
  | { state: 'well' }
  | (Exclude<Health, { state: 'well' }> extends infer Each
      ? Each extends { cause: unknown }
        ? Omit<Each, 'cause'> & { cause: { code: string; message: string } }
        : never
      : never);

interface ScriptedWindow extends Window {
  __asked: Asked[];
  __release: () => void;
  __setHealth: (health: ScriptedHealth) => void;
}

/** Opens the page without a model and gives it a scripted engine. */
export async function visitScripted(
  site: Site,
  script: Script,
  viewport?: { width: number; height: number },
): Promise<Visit> {
  // Refused with a sentence, and nothing on the console.
  const visited = await visit(site, '?model=/page.gguf', viewport);
  await visited.page.locator('[data-testid=load-progress][data-state=error]').waitFor();
  await installScripted(visited.page, script);
  return visited;
}

/** Gives the chat of the page, or of its script tag, a scripted engine. No model may be loading. */
export async function installScripted(page: Page, script: Script): Promise<void> {
  await page.evaluate(install, script);
}

/** The engine's requests so far. */
export function asked(page: Page): Promise<Asked[]> {
  return page.evaluate(() => (window as unknown as ScriptedWindow).__asked);
}

/** Continues an answer that waits. */
export function release(page: Page): Promise<void> {
  return page.evaluate(() => (window as unknown as ScriptedWindow).__release());
}

/** Changes the health of the engine. */
export function setHealth(page: Page, health: ScriptedHealth): Promise<void> {
  return page.evaluate((health) => (window as unknown as ScriptedWindow).__setHealth(health), health);
}

/** Runs in the page, so it must not use anything outside. */
function install({
  answers,
  contextLength = 1024,
  hasChatTemplate = true,
  thinking = 'none',
  embedsOnly = false,
}: Script): void {
  const scope = window as unknown as ScriptedWindow;
  const whenReleased: (() => void)[] = [];
  scope.__asked = [];
  scope.__release = () => {
    for (const go of whenReleased.splice(0)) go();
  };
  const info = {
    model: {
      name: 'script',
      architecture: 'llama',
      parameters: 15_000_000,
      nLayers: 6,
      hiddenSize: 288,
      nHeads: 6,
      nKvHeads: 6,
      headDim: 48,
      vocabSize: 32_000,
      format: 'Q8_0 + F32',
      fileBytes: 26_115_072,
    },
    backend: 'webgpu',
    adapter: 'Example GPU',
    contextLength,
    kvCache: 'f16',
    activations: 'q8',
    attention: { prefill: 'flash_prefill', decode: 'fused_decode', reason: 'the script says so' },
    askedAttention: 'auto',
    step: { name: 'plain', reason: 'the script says so', gain: null, giveUps: 0 },
    hasChatTemplate,
    tools: false,
    thinking,
    embeddings: { pooling: 'mean', size: 288, only: embedsOnly },
    gpuBytes: { weights: 27_400_192, kvCache: 7_077_888, activations: 1_204_224 },
    bytesPerToken: null,
    loadMs: { open: 41, weights: 612, compile: 188 },
    warnings: [],
  };
  let health: object & { state: string; cause?: unknown } = { state: 'well' };
  const healthListeners = new Set<(health: object) => void>();
  scope.__setHealth = (next) => {
    health = 'cause' in next ? { ...next, cause: failure(next.cause) } : next;
    for (const listener of healthListeners) listener(health);
  };
  const failure = ({ code, message }: { code: string; message: string }) =>
    Object.assign(new Error(message), code ? { code } : {});

  function metricsOf(gaps: number[], ttftMs: number, promptTokens: number) {
    const sorted = [...gaps].sort((a, b) => a - b);
    const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? null;
    const mean = gaps.length > 0 ? gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length : null;
    const tbtMs = {
      mean,
      p50: at(0.5),
      p95: at(0.95),
      p99: at(0.99),
      max: sorted.at(-1) ?? null,
      jitter: 0,
      perToken: gaps,
    };
    return {
      attention: info.attention,
      step: info.step,
      ttftMs,
      tokenizeMs: 0.5,
      prefillMs: ttftMs,
      prefillTokensPerSecond: ttftMs > 0 ? (1000 * promptTokens) / ttftMs : null,
      decodeTokensPerSecond: mean ? 1000 / mean : null,
      tbtMs,
      perToken: { dispatches: 33, submits: 1, syncs: 0.1, bytesRead: 4 },
      runAhead: 6,
      peakGpuBytes: 41_205_760,
    };
  }

  async function* answer(texts: string[], options: { maxTokens?: number; thinking?: string; signal?: AbortSignal }) {
    const script = answers[Math.min(scope.__asked.length, answers.length) - 1] ?? {};
    const { text = '', calls = [], piece = 4, gapMs = 0, error, errorAfter = 0, holdAfter, loss } = script;
    const thought = options.thinking === 'off' ? '' : (script.thought ?? '');
    const thoughtTokens = Math.ceil(thought.length / piece);
    const tokens = thoughtTokens + Math.ceil(text.length / piece);
    const promptTokens = script.promptTokens ?? texts.reduce((sum, said) => sum + 4 + Math.ceil(said.length / 4), 0);
    if (promptTokens >= contextLength) {
      const message = `The prompt has ${promptTokens} tokens, but the context holds ${contextLength} and the answer needs at least one.`;
      throw failure({ code: 'context-overflow', message });
    }
    const { signal, maxTokens = Number.POSITIVE_INFINITY } = options;
    const stopped = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
    const started = performance.now();
    yield { type: 'start', choice: 0, promptIds: [1], cachedTokens: 0 };
    yield { type: 'prefill', done: promptTokens, total: promptTokens };
    const ttftMs = performance.now() - started;
    const gaps: number[] = [];
    let last = performance.now();
    let finishReason = script.finishReason ?? 'eos';
    let n = 0;
    for (; n < tokens || (error && n <= errorAfter); n++) {
      const released = () => Promise.race([stopped, new Promise<void>((resolve) => whenReleased.push(resolve))]);
      if (n === holdAfter) await released();
      if (n === loss?.after) {
        yield { type: 'interrupted', code: loss.code, message: loss.message };
        await released();
        last -= loss.pauseMs;
        if (!signal?.aborted)
          yield { type: 'recovered', message: 'On again.', backend: 'webgpu', pauseMs: loss.pauseMs };
      }
      if (error && n === errorAfter) throw failure(error);
      if (gapMs > 0) await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, gapMs))]);
      if (signal?.aborted) finishReason = 'abort';
      else if (n >= maxTokens) finishReason = 'length';
      else if (promptTokens + n >= contextLength) finishReason = 'context';
      if (signal?.aborted || n >= maxTokens || promptTokens + n >= contextLength) break;
      const now = performance.now();
      if (n > 0) gaps.push(now - last);
      const tbtMs = n > 0 ? now - last : null;
      last = now;
      const at = (n < thoughtTokens ? n : n - thoughtTokens) * piece;
      const said = n < thoughtTokens ? '' : text.slice(at, at + piece);
      const atMs = performance.timeOrigin + now;
      const stages = { atMs, inFlightMs: 1, workerMs: tbtMs === null ? null : 0 };
      yield { type: 'token', id: n, text: said, tbtMs, position: promptTokens + n, ...stages };
      if (n < thoughtTokens) yield { type: 'reasoning', text: thought.slice(at, at + piece) };
    }
    for (const [index, call] of finishReason === 'eos' ? calls.entries() : []) {
      finishReason = 'tool-calls';
      yield { type: 'tool-call', index, id: `call${index}`, name: call.name, arguments: '' };
      for (let at = 0; at < call.arguments.length; at += piece) {
        yield { type: 'tool-call', index, arguments: call.arguments.slice(at, at + piece) };
      }
      if (call.error) yield { type: 'tool-call-error', index, message: call.error, text: call.arguments };
    }
    const usage = { promptTokens, cachedTokens: 0, completionTokens: n, reasoningTokens: Math.min(n, thoughtTokens) };
    const metrics = metricsOf(gaps, ttftMs, promptTokens);
    yield { type: 'done', text: '', finishReason, seed: 1, usage, metrics };
  }

  function request(messages: ChatMessage[] | null, prompt: string | null, options: { signal?: AbortSignal } = {}) {
    const { signal: _signal, ...plain } = options;
    scope.__asked.push({ messages, prompt, options: plain });
    return answer(messages ? messages.map(({ content }) => content) : [prompt ?? ''], options);
  }

  const engine = {
    info,
    metrics: null,
    get health() {
      return health;
    },
    get lost() {
      return health.state === 'lost' ? health.cause : null;
    },
    onHealth(listener: (health: object) => void) {
      healthListeners.add(listener);
      return () => healthListeners.delete(listener);
    },
    chat: (messages: ChatMessage[], options?: { signal?: AbortSignal }) => request(messages, null, options),
    complete: (prompt: string, options?: { signal?: AbortSignal }) => request(null, prompt, options),
    tune: () => Promise.reject(failure({ code: 'invalid-request', message: 'A script cannot be tuned.' })),
    unload: () => Promise.resolve(),
  };
  const tag = document.querySelector('[data-testid=vivace-embed]')?.shadowRoot;
  Object.assign((tag ?? document).querySelector('vivace-chat') ?? {}, { engine });
  Object.assign(document.querySelector('vivace-metrics') ?? {}, { info, engine });
  Object.assign(document.querySelector('vivace-loader') ?? {}, { state: { kind: 'ready' } });
}
