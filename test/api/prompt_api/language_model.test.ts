// The class LanguageModel: availability, creation, progress of the load, and its place among the globals.

import { getEventListeners } from 'node:events';
import { afterEach, expect, expectTypeOf, test } from 'vitest';
import {
  createLanguageModel,
  type EngineLoader,
  install,
  type LanguageModelCreateOptions,
  type LoaderOptions,
  type PromptEngine,
} from '../../../src/api/prompt_api/language_model';
import type { Engine } from '../../../src/engine/engine';
import type { LoadProgress } from '../../../src/engine/protocol';
import { codeError, errorOf, scriptedEngine } from './prompt_engine';

/** A loader that ends on command. */
function manualLoader() {
  const loads: (LoaderOptions & { finish: (engine?: PromptEngine) => void; fail: (error: Error) => void })[] = [];
  const loader = (options: LoaderOptions) =>
    new Promise<PromptEngine>((resolve, reject) => {
      options.signal.addEventListener('abort', () => reject(options.signal.reason));
      loads.push({ ...options, finish: (engine = scriptedEngine().engine) => resolve(engine), fail: reject });
    });
  return { loader, loads };
}

const arrived = (loadedBytes: number, stage: LoadProgress['stage'] = 'weights') =>
  ({ stage, loadedBytes, totalBytes: 3 }) as LoadProgress;

/** Collects the `loaded` of progress events. */
function watcher() {
  const seen: ProgressEvent[] = [];
  const monitor: LanguageModelCreateOptions['monitor'] = (target) => {
    target.addEventListener('downloadprogress', (event) => seen.push(event as ProgressEvent));
  };
  return { seen, monitor };
}

test('a loaded engine is available, a loader downloadable, then downloading, then available', async () => {
  expect(await createLanguageModel(scriptedEngine().engine).availability()).toBe('available');
  const { loader, loads } = manualLoader();
  const LanguageModel = createLanguageModel(loader);
  expect(await LanguageModel.availability()).toBe('downloadable');
  const created = LanguageModel.create();
  expect(await LanguageModel.availability()).toBe('downloading');
  loads[0].finish();
  await created;
  expect(await LanguageModel.availability()).toBe('available');
});

test('an Engine is what the interface asks for', () => {
  expectTypeOf<Engine>().toExtend<PromptEngine>();
  expectTypeOf<(options: LoaderOptions) => Promise<Engine>>().toExtend<EngineLoader>();
});

test('a session is an instance with the members of the interface', async () => {
  const LanguageModel = createLanguageModel(scriptedEngine().engine);
  const session = await LanguageModel.create();
  expect(session).toBeInstanceOf(LanguageModel);
  expect(session).toBeInstanceOf(EventTarget);
  for (const name of ['prompt', 'promptStreaming', 'append', 'measureContextUsage', 'clone', 'destroy'] as const) {
    expect(typeof session[name]).toBe('function');
  }
  expect([session.contextUsage, session.contextWindow]).toEqual([0, 100]);
  expect([session.inputUsage, session.inputQuota]).toEqual([0, 100]);
  expect([session.oncontextoverflow, session.onquotaoverflow]).toEqual([null, null]);
  expect(() => new LanguageModel(undefined as never)).toThrow('Illegal constructor');
});

test('two sessions share one load', async () => {
  const { loader, loads } = manualLoader();
  const LanguageModel = createLanguageModel(loader);
  const both = [LanguageModel.create(), LanguageModel.create()];
  await null;
  loads[0].finish();
  await Promise.all(both);
  await LanguageModel.create();
  expect(loads).toHaveLength(1);
});

test('progress rises from 0 to 1 in steps of 1/65536, and 1 comes once the session stands', async () => {
  const { loader, loads } = manualLoader();
  const { seen, monitor } = watcher();
  const created = createLanguageModel(loader).create({ monitor });
  await null;
  loads[0].onProgress(arrived(0, 'open'));
  loads[0].onProgress(arrived(1));
  loads[0].onProgress(arrived(1));
  loads[0].onProgress(arrived(3));
  expect(seen.map(({ loaded }) => loaded)).toEqual([0, 21845 / 65536, 65535 / 65536]);
  loads[0].finish();
  await created;
  loads[0].onProgress(arrived(2));
  expect(seen.map(({ loaded }) => loaded)).toEqual([0, 21845 / 65536, 65535 / 65536, 1]);
  for (const event of seen) expect([event.total, event.lengthComputable]).toEqual([1, true]);
});

test('a loaded engine reports 0 and 1', async () => {
  const { seen, monitor } = watcher();
  await createLanguageModel(scriptedEngine().engine).create({ monitor });
  expect(seen.map(({ loaded }) => loaded)).toEqual([0, 1]);
});

test('ondownloadprogress hears the events too', async () => {
  const seen: number[] = [];
  const monitor: LanguageModelCreateOptions['monitor'] = (target) => {
    target.ondownloadprogress = ({ loaded }) => seen.push(loaded);
  };
  await createLanguageModel(scriptedEngine().engine).create({ monitor });
  expect(seen).toEqual([0, 1]);
});

test.each([0, 1])('an abort in the event at %d rejects with its reason', async (at) => {
  const reason = new Error('enough');
  const controller = new AbortController();
  const monitor: LanguageModelCreateOptions['monitor'] = (target) => {
    target.addEventListener('downloadprogress', (event) => {
      if ((event as ProgressEvent).loaded === at) controller.abort(reason);
    });
  };
  const LanguageModel = createLanguageModel(scriptedEngine().engine);
  expect(await errorOf(LanguageModel.create({ monitor, signal: controller.signal }))).toBe(reason);
});

test('an error of the monitor callback rejects the creation', async () => {
  const error = new Error('monitor');
  const monitor = () => {
    throw error;
  };
  expect(await errorOf(createLanguageModel(scriptedEngine().engine).create({ monitor }))).toBe(error);
});

test('an abort ends the load only if no other session waits for it', async () => {
  const { loader, loads } = manualLoader();
  const LanguageModel = createLanguageModel(loader);
  const first = new AbortController();
  const second = new AbortController();
  const a = LanguageModel.create({ signal: first.signal });
  const b = LanguageModel.create({ signal: second.signal });
  await null;
  first.abort();
  expect((await errorOf(a)).name).toBe('AbortError');
  expect(loads[0].signal.aborted).toBe(false);
  second.abort();
  expect((await errorOf(b)).name).toBe('AbortError');
  expect(loads[0].signal.aborted).toBe(true);
  expect(await LanguageModel.availability()).toBe('downloadable');
  const c = LanguageModel.create();
  await null;
  loads[1].finish();
  expect((await c).contextWindow).toBe(100);
});

/** A loader that heeds no signal, and a session whose creation was aborted during the load. */
async function abortedLoad() {
  const loads: { resolve: (engine: PromptEngine) => void; reject: (error: Error) => void }[] = [];
  const loader = () => new Promise<PromptEngine>((resolve, reject) => void loads.push({ resolve, reject }));
  const LanguageModel = createLanguageModel(loader);
  const controller = new AbortController();
  const left = LanguageModel.create({ signal: controller.signal });
  await null;
  controller.abort();
  expect((await errorOf(left)).name).toBe('AbortError');
  return { LanguageModel, loads };
}

test.each(['before', 'while'])(
  'an engine whose load was aborted, and that comes %s others ask, is theirs',
  async (at) => {
    const { LanguageModel, loads } = await abortedLoad();
    const { engine } = scriptedEngine({ contextLength: 77 });
    if (at === 'before') loads[0].resolve(engine);
    const both = [LanguageModel.create(), LanguageModel.create()];
    await null;
    loads[0].resolve(engine);
    expect(loads).toHaveLength(1);
    for (const created of both) expect((await created).contextWindow).toBe(77);
  },
);

test('a session that waits for an aborted load loads anew if that fails', async () => {
  const { LanguageModel, loads } = await abortedLoad();
  const waiting = LanguageModel.create();
  await null;
  loads[0].reject(codeError('model-fetch'));
  await expect.poll(() => loads.length).toBe(2);
  loads[1].resolve(scriptedEngine().engine);
  expect((await waiting).contextWindow).toBe(100);
});

test('an aborted signal creates nothing, and one aborted later ends the session with its reason', async () => {
  const LanguageModel = createLanguageModel(scriptedEngine().engine);
  expect((await errorOf(LanguageModel.create({ signal: AbortSignal.abort() }))).name).toBe('AbortError');
  const controller = new AbortController();
  const session = await LanguageModel.create({ signal: controller.signal });
  const reason = new Error('gone');
  const asked = session.prompt('hello');
  controller.abort(reason);
  expect(await errorOf(asked)).toBe(reason);
  expect(await errorOf(session.prompt('hello'))).toBe(reason);
});

test('a signal of many sessions keeps none of them', async () => {
  const LanguageModel = createLanguageModel(scriptedEngine().engine);
  const { signal } = new AbortController();
  for (let i = 0; i < 3; i++) {
    const session = await LanguageModel.create({ signal });
    await session.prompt('hello', { signal });
    session.destroy();
  }
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each([
  ['model-fetch', 'NetworkError'],
  ['gpu-memory', 'OperationError'],
  ['unsupported-model', 'NotSupportedError'],
])('a load that fails with %s rejects with %s and may be tried again', async (code, name) => {
  const { loader, loads } = manualLoader();
  const LanguageModel = createLanguageModel(loader);
  const created = LanguageModel.create();
  await null;
  const cause = codeError(code);
  loads[0].fail(cause);
  const error = await errorOf(created);
  expect([error.name, error.cause]).toEqual([name, cause]);
  expect(await LanguageModel.availability()).toBe('downloadable');
});

test('a lost engine is unavailable, unless a function loads another', async () => {
  const { engine } = scriptedEngine();
  const LanguageModel = createLanguageModel(engine);
  engine.lost = codeError('device-lost');
  expect(await LanguageModel.availability()).toBe('unavailable');
  expect(await LanguageModel.params()).toBeNull();
  expect((await errorOf(LanguageModel.create())).name).toBe('InvalidStateError');

  const engines = [scriptedEngine().engine, scriptedEngine().engine];
  const LoadedAgain = createLanguageModel(async () => engines.shift() as PromptEngine);
  const [first, second] = engines;
  await LoadedAgain.create();
  first.lost = codeError('device-lost');
  expect(await LoadedAgain.availability()).toBe('downloadable');
  const session = await LoadedAgain.create();
  second.info.contextLength = 77;
  expect(session.contextWindow).toBe(77);
});

test.each([
  ['images as input', {}, { expectedInputs: [{ type: 'image' }] }],
  ['audio as output', {}, { expectedOutputs: [{ type: 'audio' }] }],
  ['no chat template', { hasChatTemplate: false }, {}],
  ['thinking', {}, { thinking: { effort: 'high' } }],
  [
    'tools',
    { tools: false },
    { tools: [{ name: 'now', description: 'The time.', inputSchema: { type: 'object' }, execute: () => '' }] },
  ],
] as const)('%s: unavailable, and a creation rejects with NotSupportedError', async (_, info, options) => {
  const LanguageModel = createLanguageModel(scriptedEngine({ info }).engine);
  expect(await LanguageModel.availability(options)).toBe('unavailable');
  expect((await errorOf(LanguageModel.create(options))).name).toBe('NotSupportedError');
});

test('initial prompts count in contextUsage, as measureContextUsage says', async () => {
  const initialPrompts = [
    { role: 'system', content: 'you are a robot' },
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: 'hello' },
  ] as const;
  const session = await createLanguageModel(scriptedEngine().engine).create({ initialPrompts });
  expect(session.contextUsage).toBe(12);
  expect(await session.measureContextUsage(initialPrompts)).toBe(12);
});

test('tools count in contextUsage', async () => {
  const tools = [{ name: 'now', description: 'The time.', inputSchema: { type: 'object' }, execute: () => '' }];
  const session = await createLanguageModel(scriptedEngine().engine).create({ tools });
  expect(session.contextUsage).toBeGreaterThanOrEqual(10);
});

test('a template that needs a question gets one to count a system prompt', async () => {
  const { engine, counted } = scriptedEngine({ needsQuestion: true });
  const session = await createLanguageModel(engine).create({
    initialPrompts: [{ role: 'system', content: 'be kind' }],
  });
  expect(session.contextUsage).toBe(7);
  expect(counted.map(({ messages }) => messages.length)).toEqual([1, 2]);
});

test('initial prompts that exceed the context are a QuotaExceededError with both numbers', async () => {
  const LanguageModel = createLanguageModel(scriptedEngine({ contextLength: 10 }).engine);
  const initialPrompts = [{ role: 'system', content: 'word '.repeat(20) }] as const;
  const error = await errorOf(LanguageModel.create({ initialPrompts }));
  expect([error.name, error.requested, error.quota]).toEqual(['QuotaExceededError', 22, 10]);
  expect(error).toBeInstanceOf(DOMException);
});

test('a system prompt that is not the first message is a TypeError', async () => {
  const LanguageModel = createLanguageModel(scriptedEngine().engine);
  const system = { role: 'system', content: 'be kind' } as const;
  const user = { role: 'user', content: 'hello' } as const;
  expect(await errorOf(LanguageModel.create({ initialPrompts: [user, system] }))).toBeInstanceOf(TypeError);
  expect(await errorOf(LanguageModel.create({ initialPrompts: [system, system] }))).toBeInstanceOf(TypeError);
  await LanguageModel.create({ initialPrompts: [system] });
  await LanguageModel.create({ initialPrompts: [] });
});

afterEach(() => {
  for (const name of ['', 'ToolCall', 'ToolSuccess', 'ToolError']) {
    delete (globalThis as Record<string, unknown>)[`LanguageModel${name}`];
  }
});

test('install makes the class global, but keeps the browser own', () => {
  const mine = install(scriptedEngine().engine);
  const globals = globalThis as Record<string, unknown>;
  expect(globals.LanguageModel).toBe(mine);
  expect(typeof globals.LanguageModelToolCall).toBe('function');
  expect(install(scriptedEngine().engine)).toBe(mine);
});
