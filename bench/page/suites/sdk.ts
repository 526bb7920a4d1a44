// `bench -- sdk`: what the clients of OpenAI's interface cost the page's main thread. The same answer of a real engine
// is read as events, through the interface's `fetch`, and by each client.

import type { createFetch as createFetchFunction } from '../../../src/api/openai/fetch';
import type { Engine as EngineClass } from '../../../src/engine/engine';
import type { BenchResult, SdkAnswer, SdkRow } from '../../report';
import type { Bench } from '../bench';
import type * as Clients from '../clients';

/** The bundles as people load them, and that of the clients. */
const ENGINE = '/lib/vivace.js';
const INTERFACE = '/lib/openai.js';
const CLIENTS = '/bench_clients.js';

const PROMPT = 'Tell me a story about a brave cat';
const URL_OF_CHAT = 'http://vivace.invalid/v1/chat/completions';

/** An answer as a client read it. */
interface Read {
  text: string;
  tokens: number;
  /** Chunks with text; null where there are none, but events. */
  chunks: number | null;
}

/** Reads one answer to its end. What it gives tells what it read, after the measurement. */
export type Reader = () => Promise<() => Read | Promise<Read>>;

/** Milliseconds that the main thread has spent in tasks, as the terminal learns from the browser. */
const { vivaceTaskMs: taskMs } = globalThis as unknown as { vivaceTaskMs: () => Promise<number> };

export async function sdkSuite(bench: Bench): Promise<BenchResult> {
  const { request, signal } = bench;
  const { Engine }: { Engine: typeof EngineClass } = await import(/* @vite-ignore */ ENGINE);
  bench.say({ text: 'the model' });
  const engine = await Engine.load(request.model, { cache: false, signal });
  try {
    const readers = await openReaders(engine, request.tokens);
    const rows: SdkRow[] = Object.keys(readers).map((reader) => ({ reader, answers: [] }));
    const texts = new Set<string>();
    const rounds = Array.from({ length: request.rounds + 1 }, (_, round) => round);
    // Every second round runs backwards, so that none gains from what the one before leaves behind.
    const turns = rounds.flatMap((round) =>
      (round % 2 === 0 ? rows : rows.toReversed()).map((row) => ({ round, row })),
    );
    for (const [turn, { round, row }] of turns.entries()) {
      if (bench.stopped) break;
      const { text, ...answer } = await measure(readers[row.reader] as Reader);
      texts.add(text);
      if (round > 0) row.answers.push(answer); // the first round warms up
      bench.say({ text: row.reader, done: turn + 1, total: turns.length });
    }
    return { suite: 'sdk', model: engine.info.model.name, sameText: texts.size === 1, rows };
  } finally {
    await engine.unload();
  }
}

/** All ways to read the answer, by name. */
async function openReaders(engine: EngineClass, tokens: number): Promise<Record<string, Reader>> {
  const { createFetch }: { createFetch: typeof createFetchFunction } = await import(/* @vite-ignore */ INTERFACE);
  const { openClients }: typeof Clients = await import(/* @vite-ignore */ CLIENTS);
  const fetch = createFetch(engine) as typeof globalThis.fetch;
  return {
    'engine, events': () => readEvents(engine, tokens),
    'fetch, plain reader': () => readChunks(fetch, tokens),
    ...openClients({ fetch, prompt: PROMPT, tokens }),
  };
}

async function measure(read: Reader): Promise<SdkAnswer & { text: string }> {
  const taskMsBefore = await taskMs();
  const start = performance.now();
  const tell = await read();
  const ms = performance.now() - start;
  const spentMs = (await taskMs()) - taskMsBefore;
  return { ...(await tell()), ms, taskMs: spentMs };
}

async function readEvents(engine: EngineClass, maxTokens: number): Promise<() => Read> {
  let text = '';
  let tokens = 0;
  const messages = [{ role: 'user' as const, content: PROMPT }];
  for await (const event of engine.chat(messages, { maxTokens, temperature: 0, ignoreEos: true })) {
    if (event.type === 'token') tokens++;
    if (event.type === 'token' || event.type === 'done') text += event.text;
  }
  return () => ({ text, tokens, chunks: null });
}

/** Leaves the bytes as they are until they are asked for. */
async function readChunks(fetch: typeof globalThis.fetch, tokens: number): Promise<() => Promise<Read>> {
  const response = await fetch(URL_OF_CHAT, {
    method: 'POST',
    body: JSON.stringify({
      messages: [{ role: 'user', content: PROMPT }],
      max_tokens: tokens,
      temperature: 0,
      ignore_eos: true,
      stream: true,
    }),
  });
  if (!response.ok) throw new Error(await response.text());
  const bytes: Uint8Array<ArrayBuffer>[] = [];
  const reader = (response.body as NonNullable<typeof response.body>).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) bytes.push(next.value);
  return () => parse(bytes);
}

/** A chunk of the stream, or the error that ended it. */
interface Chunk {
  choices?: { delta: { content?: string } }[];
  vivace?: { tokens?: object[] };
  error?: { message: string };
}

async function parse(bytes: Uint8Array<ArrayBuffer>[]): Promise<Read> {
  const lines = (await new Blob(bytes).text()).split('\n').filter((line) => line.startsWith('data: {'));
  const read = { text: '', tokens: 0, chunks: 0 };
  for (const line of lines) {
    const { choices, vivace, error }: Chunk = JSON.parse(line.slice('data: '.length));
    if (error) throw new Error(error.message);
    const text = choices?.[0]?.delta.content ?? '';
    read.text += text;
    read.tokens += vivace?.tokens?.length ?? 0;
    if (text) read.chunks++;
  }
  return read;
}
