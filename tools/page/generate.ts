// The page's part of `generate`: one load, one answer or several. The main thread only listens, since the worker keeps
// the time beside it: text for the terminal leaves in batches, and not at all when nobody watches.

import {
  type AnswerPart,
  type ChatMessage,
  type ChatSettings,
  Engine,
  type EngineEvent,
  type EngineGenerateOptions,
  type EngineInfo,
  type EngineLoadOptions,
  type Recovery,
  type RunReport,
  runReport,
  type TokenEvent,
  takeRecovery,
} from '../../src/engine/engine';
import { type Piece, Transcript } from '../lib/generate/transcript';

export interface GenerateRequest {
  /** The URL as the page sees it. */
  model: string;
  prompt: string;
  /** null: as the model has a template or not. */
  chat: boolean | null;
  /** A conversation instead of the prompt. */
  messages?: readonly ChatMessage[];
  /** For the chat template. */
  settings?: ChatSettings;
  load: Omit<EngineLoadOptions, 'onProgress' | 'signal'>;
  options: Omit<EngineGenerateOptions, 'signal'>;
  /** Tell text and progress while they come. */
  streams?: boolean;
}

export interface Run {
  info: EngineInfo;
  done: Extract<EngineEvent, { type: 'done' }>;
  report: RunReport;
}

const BATCH_MS = 30;

/** Passes the pieces of answers to the terminal, in batches. */
class Teller {
  private pending: Piece[] = [];
  private timer = 0;

  constructor(private readonly tell: (said: object) => void) {}

  add(pieces: readonly Piece[]): void {
    if (pieces.length === 0) return;
    this.pending.push(...pieces);
    this.timer ||= Number(setTimeout(() => this.flush(), BATCH_MS));
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.pending.length > 0) this.tell({ pieces: this.pending });
    this.pending = [];
  }
}

export async function generate(
  request: GenerateRequest,
  tell: (said: object) => void,
  signal: AbortSignal,
): Promise<Run[]> {
  const teller = request.streams ? new Teller(tell) : null;
  try {
    const engine = await Engine.load(request.model, {
      ...request.load,
      cache: false, // each run has a browser of its own
      signal,
      onProgress: (progress) => teller && tell({ progress }),
    });
    const runs = await answer(engine, request, (pieces) => teller?.add(pieces), signal);
    await engine.unload();
    return runs;
  } finally {
    teller?.flush();
  }
}

function eventsOf(engine: Engine, request: GenerateRequest, signal: AbortSignal): AsyncIterable<EngineEvent> {
  const { chat, prompt, messages, settings } = request;
  const options = { ...request.options, gpuTimes: true, signal };
  const isChat = chat ?? (messages !== undefined || settings !== undefined || engine.info.hasChatTemplate);
  if (!isChat) return engine.complete(prompt, options);
  return engine.chat(messages ?? [{ role: 'user', content: prompt }], { ...settings, ...options });
}

async function answer(
  engine: Engine,
  request: GenerateRequest,
  onPieces: (pieces: readonly Piece[]) => void,
  signal: AbortSignal,
): Promise<Run[]> {
  const runs: Run[] = [];
  const count = request.options.n ?? 1;
  const warnings: Extract<EngineEvent, { type: 'warning' }>[] = [];
  let heard = new HeardAnswer();
  let transcript = new Transcript();
  for await (const event of eventsOf(engine, request, signal)) {
    if (event.type === 'warning') warnings.push(event);
    if (event.type === 'start') {
      heard = new HeardAnswer();
      transcript = new Transcript();
      if (count > 1)
        onPieces([['answer', `${event.choice > 0 ? '\n\n' : ''}--- ${event.choice + 1} of ${count} ---\n`]]);
    }
    heard.add(event);
    onPieces(transcript.add(event));
    if (event.type === 'gpuTimes') runs.push(heard.run(engine.info, warnings.splice(0)));
  }
  if (heard.done && !runs.some(({ done }) => done === heard.done)) runs.push(heard.run(engine.info, warnings));
  if (runs.length === 0) throw new Error('The engine ended without saying why.');
  return runs;
}

/** The events of one answer, collected. */
class HeardAnswer {
  done: Run['done'] | null = null;
  private promptIds: number[] | null = null;
  private text = '';
  private readonly tokens: TokenEvent[] = [];
  private readonly parts: AnswerPart[] = [];
  private readonly recoveries: Recovery[] = [];

  add(event: EngineEvent): void {
    if (event.type === 'start') this.promptIds = event.promptIds;
    if (event.type === 'token') this.tokens.push(event);
    if (event.type === 'token' || event.type === 'done') this.text += event.text;
    if (event.type === 'reasoning' || event.type === 'tool-call' || event.type === 'tool-call-error')
      this.parts.push(event);
    takeRecovery(this.recoveries, event, this.tokens.length);
    if (event.type === 'done') this.done = event;
    if (event.type === 'gpuTimes' && this.done) this.done.metrics.gpuMs = event.gpuMs;
  }

  run(info: EngineInfo, warnings: Extract<EngineEvent, { type: 'warning' }>[]): Run {
    const { done, promptIds, text, parts, recoveries, tokens } = this;
    if (!done) throw new Error('An answer ended without `done`.');
    const ids = tokens.map((token) => token.id);
    const logprobs = tokens[0]?.logprobs && tokens.map((token) => token.logprobs ?? null);
    const heard = { info, warnings, recoveries, promptIds, ids, text, parts, logprobs, done };
    return { info, done, report: runReport(heard) };
  }
}
