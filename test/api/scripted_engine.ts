// An engine that answers with the events of a script, and keeps what it was asked.

import type { ApiEngine, ChatMessage, EngineChatOptions, EngineEvent } from '../../src/api/api_engine';

export type Script = readonly (EngineEvent | Error | Promise<unknown> | 'task')[];

export interface Asked {
  messages: readonly ChatMessage[];
  prompt: string | readonly number[];
  options: EngineChatOptions;
}

export interface ScriptedEngine extends ApiEngine {
  readonly asked: Asked[];
  /** How many events were taken, and whether the last answer was left or stopped. */
  taken: number;
  stopped: boolean;
}

type Done = Extract<EngineEvent, { type: 'done' }>;

export function start(choice = 0, promptTokens = 5, cachedTokens = 2): EngineEvent {
  return { type: 'start', choice, promptIds: Array.from({ length: promptTokens }, (_, i) => i), cachedTokens };
}

export function token(text: string, id = 0, more: object = {}): EngineEvent {
  return {
    type: 'token',
    id,
    text,
    tbtMs: 1,
    position: 5 + id,
    atMs: 1000 + id,
    inFlightMs: 2,
    workerMs: 0.1,
    ...more,
  };
}

/** A text as tokens, one a word. */
export function words(text: string): EngineEvent[] {
  return text.split(/(?<= )/).map((word, i) => token(word, i));
}

export function done(more: Partial<Done> = {}): EngineEvent {
  const usage = { promptTokens: 5, cachedTokens: 2, completionTokens: 3, reasoningTokens: 0 };
  return {
    type: 'done',
    text: '',
    finishReason: 'eos',
    seed: 7,
    usage,
    metrics: { ttftMs: 4 } as Done['metrics'],
    ...more,
  };
}

export function failure(code: string, message = 'It failed.'): Error {
  return Object.assign(new Error(message), { code });
}

/** @param answer the script of a request; by default the words of its last message */
export function scriptedEngine(
  answer: (asked: Asked) => Script = ({ messages, prompt }) => [
    start(),
    ...words(messages.length > 0 ? `You said: ${messages.at(-1)?.content}` : `After ${prompt}`),
    done(),
  ],
  info: Partial<ApiEngine['info']> = {},
): ScriptedEngine {
  const engine: ScriptedEngine = {
    asked: [],
    taken: 0,
    stopped: false,
    info: { model: { name: 'storyteller' }, contextLength: 64, tools: true, thinking: 'optional', ...info },
    chat: (messages, options = {}) => play({ messages, prompt: '', options }),
    complete: (prompt, options = {}) => play({ messages: [], prompt, options }),
    embed: async (texts, { dimensions = 3 } = {}) => ({
      vectors: texts.map((text) => Float32Array.from([text.length, 0.5, -2]).subarray(0, dimensions)),
      promptTokens: texts.length,
    }),
  };
  async function* play(asked: Asked): AsyncGenerator<EngineEvent, void, undefined> {
    engine.asked.push(asked);
    engine.stopped = false;
    const { signal } = asked.options;
    const stop = () => {
      engine.stopped = true;
    };
    signal?.addEventListener('abort', stop);
    for (const step of answer(asked)) {
      if (signal?.aborted) return;
      if (step instanceof Error) throw step;
      if (step === 'task') await nextTask();
      else if (step instanceof Promise) await step;
      else {
        engine.taken++;
        yield step;
      }
    }
  }
  return engine;
}

/** A loss of the GPU, the work until the engine is back, and its return. */
export const LOSS: Script = [
  { type: 'interrupted', code: 'device-lost', message: 'The GPU was lost.' },
  'task',
  'task',
  { type: 'recovered', message: 'It goes on.', backend: 'webgpu', pauseMs: 1800 },
];

/** A step that never ends. */
export const FOREVER = new Promise<never>(() => {});

/** Resolves after everything that has arrived. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The answer to a POST: its status, and its JSON or the JSON of each event of its stream. */
export async function post(fetch: typeof globalThis.fetch | Fetch, path: string, body: unknown) {
  const response = await fetch(`http://vivace/v1/${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into at any depth
  const json: any = isStream ? null : JSON.parse(text);
  return { status: response.status, json, events: isStream ? readEvents(text) : [], text };
}

type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

/** The JSON of each `data:` line but `[DONE]`. */
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into at any depth
export function readEvents(text: string): any[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)));
}
