// The page's part of `generate`: one load, one answer. The main thread only listens, since the worker keeps the time
// beside it: text for the terminal leaves in batches, and not at all when nobody watches.

import {
  Engine,
  type EngineEvent,
  type EngineGenerateOptions,
  type EngineInfo,
  type EngineLoadOptions,
  type RunReport,
  runReport,
} from '../../src/engine/engine';

export interface GenerateRequest {
  /** The URL as the page sees it. */
  model: string;
  prompt: string;
  /** null: as the model has a template or not. */
  chat: boolean | null;
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

/** Passes text to the terminal, in batches. */
class Teller {
  private pending = '';
  private timer = 0;

  constructor(private readonly tell: (said: object) => void) {}

  text(text: string): void {
    this.pending += text;
    this.timer ||= Number(setTimeout(() => this.flush(), BATCH_MS));
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.pending !== '') this.tell({ text: this.pending });
    this.pending = '';
  }
}

export async function generate(
  request: GenerateRequest,
  tell: (said: object) => void,
  signal: AbortSignal,
): Promise<Run> {
  const teller = request.streams ? new Teller(tell) : null;
  try {
    const engine = await Engine.load(request.model, {
      ...request.load,
      cache: false, // each run has a browser of its own
      signal,
      onProgress: (progress) => teller && tell({ progress }),
    });
    return await answer(engine, request, (text) => teller?.text(text), signal);
  } finally {
    teller?.flush();
  }
}

async function answer(
  engine: Engine,
  { chat, prompt, options }: GenerateRequest,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<Run> {
  const { info } = engine;
  const all = { ...options, gpuTimes: true, signal };
  const asChat = chat ?? info.hasChatTemplate;
  const events = asChat ? engine.chat([{ role: 'user', content: prompt }], all) : engine.complete(prompt, all);
  const warnings = [];
  const ids = [];
  let promptIds: number[] = [];
  let text = '';
  let done: Run['done'] | null = null;
  for await (const event of events) {
    if (event.type === 'start') promptIds = event.promptIds;
    if (event.type === 'warning') warnings.push(event);
    if (event.type === 'token') ids.push(event.id);
    if (event.type === 'token' || event.type === 'done') {
      text += event.text;
      onText(event.text);
    }
    if (event.type === 'done') done = event;
    if (event.type === 'gpuTimes' && done) done.metrics.gpuMs = event.gpuMs;
  }
  await engine.unload();
  if (!done) throw new Error('The engine ended without saying why.');
  return { info, done, report: runReport({ info, warnings, promptIds, ids, text, done }) };
}
