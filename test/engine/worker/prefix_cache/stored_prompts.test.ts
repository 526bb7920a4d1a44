// Prompts that outlive an engine: against a textbook, a cache that is an array of what each position has seen, and with
// a tiny model, whose answers from storage are those of a fresh engine.

import { expect, test } from 'vitest';
import { CpuBackend, loadCpuWeights } from '../../../../src/engine/backend/cpu_backend';
import { StoredPrompts } from '../../../../src/engine/worker/prefix_cache/stored_prompts';
import { readConfig } from '../../../../src/model/config/read';
import { resolveTensors } from '../../../../src/model/weights/tensors';
import { openModel } from '../../../../src/storage/model_file';
import { openPromptFiles } from '../../../../src/storage/prompts/prompt_files';
import { PromptStore } from '../../../../src/storage/prompts/prompt_store';
import { droppedFolder } from '../../../model/fixtures/files';
import { FakeFolder } from '../../../storage/prompts/fake_folder';
import { ask, numberSession, TINY } from '../../doubles/loop_session';

const always = () => true;
const never = () => false;
const MODEL = { location: 'https://example.org/model.gguf', root: 'a', isKept: async () => true };
const openStore = async (folder: FakeFolder) => PromptStore.open(await openPromptFiles(folder.root));

/** What each position of a sequence has seen: a hash of all ids up to it. */
function seenOf(ids: ArrayLike<number>): Uint32Array {
  let hash = 7;
  return Uint32Array.from(ids, (id) => {
    hash = (Math.imul(hash, 31) + id + 1) >>> 0;
    return hash;
  });
}

/** An engine whose keys and values are what each position has seen. Each load is a new one. */
class Textbook {
  cachedIds: readonly number[] = [];
  readonly memory = new Uint32Array(1000);
  reads = 0;
  time = 0;
  /** Milliseconds of a read from storage. */
  readMs = 1;
  isRefused = false;
  readonly stored: StoredPrompts;

  constructor(folder: FakeFolder, model: Partial<typeof MODEL> = {}, keeps: 'system' | 'all' = 'system') {
    const store = openStore(folder).then((opened) => {
      const { read } = opened;
      opened.read = async (name, length) => {
        this.reads++;
        this.time += this.readMs;
        return read.call(opened, name, length);
      };
      return opened;
    });
    this.stored = new StoredPrompts({
      store: store.catch(() => null),
      location: MODEL.location,
      model: Promise.resolve({ ...MODEL, ...model }),
      bytesPerToken: 4,
      keeps,
      now: () => this.time,
      kv: {
        read: async (first, tokens) => new Uint8Array(this.memory.slice(first, first + tokens).buffer),
        write: async (ids, first, bytes) => {
          if (this.isRefused) return false;
          this.memory.set(new Uint32Array(bytes.slice().buffer), first);
          expect(ids.length - first).toBe(bytes.length / 4);
          return true;
        },
      },
    });
  }

  /** Runs a prompt as an answer does. Returns how much of it came from storage. */
  async ask(prompt: readonly number[], { stopped = never, system = prompt.length, msPerToken = 1 } = {}) {
    const held = await this.stored.restore(this, Uint32Array.from(prompt), 0, stopped);
    expect(this.memory.slice(0, held)).toEqual(seenOf(prompt).slice(0, held));
    expect(this.cachedIds.slice(0, held)).toEqual(prompt.slice(0, held));
    this.memory.set(seenOf(prompt));
    this.cachedIds = prompt;
    this.stored.note(prompt, () => system, held > 0 ? null : msPerToken);
    return held;
  }

  write(goesOn = always) {
    return this.stored.write(this, (work) => work(), goesOn);
  }
}

const PROMPT = Array.from({ length: 400 }, (_, i) => (i * 7) % 256);
const OTHER = [...PROMPT.slice(0, 200), ...Array.from({ length: 200 }, (_, i) => i)];

async function written() {
  const folder = new FakeFolder();
  const engine = new Textbook(folder);
  expect(await engine.ask(PROMPT)).toBe(0);
  await engine.write();
  expect(folder.files.size).toBe(3); // of 128 tokens each
  return folder;
}

test('the next load has the whole pieces of a prompt, and what another one has in common with it', async () => {
  const folder = await written();
  expect(await new Textbook(folder).ask(PROMPT)).toBe(384);
  expect(await new Textbook(folder).ask(OTHER)).toBe(128);
  expect(await new Textbook(folder).ask(PROMPT.slice(0, 256))).toBe(128); // the last token must run
  expect(await new Textbook(folder).ask(PROMPT.slice(1))).toBe(0);
  expect(await new Textbook(folder, { root: 'b' }).ask(PROMPT)).toBe(0);
});

test('the system prompt alone is written, from 256 tokens on, or all that the cache holds', async () => {
  for (const [system, keeps, files] of [
    [300, 'system', 2],
    [255, 'system', 0],
    [0, 'system', 0],
    [0, 'all', 3],
  ] as const) {
    const folder = new FakeFolder();
    const engine = new Textbook(folder, {}, keeps);
    await engine.ask(PROMPT, { system });
    await engine.write();
    expect(folder.files.size).toBe(files);
  }
});

test('a request ends the writing, which goes on after it', async () => {
  const folder = new FakeFolder();
  const engine = new Textbook(folder);
  await engine.ask(PROMPT);
  await engine.write(() => folder.files.size < 2);
  expect(folder.files.size).toBe(1);
  await engine.stored.write(engine, async () => null, always); // a request came before the turn
  expect(folder.files.size).toBe(1);
  await engine.write();
  expect(folder.files.size).toBe(3);
});

test('nothing is written of what the cache holds no more, nor for a model that a person has deleted', async () => {
  const folder = new FakeFolder();
  const engine = new Textbook(folder);
  await engine.ask(PROMPT);
  engine.cachedIds = PROMPT.slice(0, 200);
  await engine.write();
  expect(folder.files.size).toBe(1);
  const deleted = new FakeFolder();
  const other = new Textbook(deleted, { isKept: async () => false });
  await other.ask(PROMPT);
  await other.write();
  expect(deleted.files.size).toBe(0);
});

test('slow storage: nothing is written, and a restore ends with the first piece that took too long', async () => {
  const folder = new FakeFolder();
  const engine = new Textbook(folder);
  engine.readMs = 100; // of 128 tokens
  await engine.ask(PROMPT);
  await engine.write();
  expect(folder.files.size).toBe(0);
  for (let i = 0; i < 4; i++) {
    await engine.ask(PROMPT);
    await engine.write();
  }
  expect([folder.files.size, engine.reads]).toEqual([0, 9]); // thrice the best of three
  const slow = new Textbook(await written());
  slow.readMs = 150;
  expect(await slow.ask(PROMPT)).toBe(128);
});

test('a stop, refused memory and storage that is not there: what was there is right', async () => {
  const folder = await written();
  let asked = 0;
  expect(await new Textbook(folder).ask(PROMPT, { stopped: () => asked++ >= 2 })).toBe(256);
  const refused = new Textbook(folder);
  refused.isRefused = true;
  expect(await refused.ask(PROMPT)).toBe(0);
  const gone = new FakeFolder();
  gone.diesAt = 0;
  const none = new Textbook(gone);
  expect(await none.ask(PROMPT)).toBe(0);
  await none.write();
  expect(gone.files.size).toBe(0);
});

test('a piece that another tab is writing is left to it, and the rest follows later', async () => {
  const folder = await written();
  const last = [...folder.files].at(-1)?.[1];
  if (last) Object.assign(last, { isLocked: true, bytes: new Uint8Array(3) });
  const engine = new Textbook(folder);
  expect(await engine.ask(PROMPT)).toBe(256);
  await engine.write();
  expect(last?.bytes.length).toBe(3);
  folder.revive();
  await engine.write();
  expect(await new Textbook(folder).ask(PROMPT)).toBe(384);
});

test('what may be wrong is dropped', async () => {
  const folder = await written();
  const engine = new Textbook(folder);
  await engine.ask(OTHER);
  await engine.stored.distrust();
  expect(folder.files.size).toBe(2);
  expect(await new Textbook(folder).ask(PROMPT)).toBe(0); // its beginning is gone
});

test('killed at any operation: the next load is right, and writes the rest', async () => {
  const whole = new FakeFolder();
  const engine = new Textbook(whole);
  await engine.ask(PROMPT);
  await engine.write();
  for (let at = 1; at <= whole.operations; at++) {
    const folder = new FakeFolder();
    folder.diesAt = at;
    const dying = new Textbook(folder);
    await dying.ask(PROMPT);
    await dying.write();
    folder.revive();
    const next = new Textbook(folder);
    const held = await next.ask(PROMPT); // and all of it is right
    expect(held % 128).toBe(0);
    next.stored.note(PROMPT, () => PROMPT.length, 1);
    await next.write();
    expect(await new Textbook(folder).ask(PROMPT)).toBe(384);
  }
});

test('a tiny model answers from storage as a fresh one', async () => {
  const files = await openModel(droppedFolder(new URL(`../../../fixtures/llama/${TINY}`, import.meta.url).pathname));
  const config = readConfig(files);
  const weights = await loadCpuWeights(resolveTensors(files, config));
  const folder = new FakeFolder();
  const load = () => {
    const backend = new CpuBackend(config, weights, 500);
    const session = numberSession(backend);
    const { bytesPerToken } = backend.parking;
    const { location } = MODEL;
    const model = Promise.resolve(MODEL);
    const sources = { store: openStore(folder), location, model, kv: backend.kvBytes(), bytesPerToken };
    session.stored = new StoredPrompts({ ...sources, keeps: 'all', now: () => 0 });
    return session;
  };
  const options = { temperature: 0.9, seed: 5, maxTokens: 12, repetitionPenalty: 1.3 };
  const session = load();
  const first = await ask(session, { ids: PROMPT }, options);
  expect(first.done.usage.storedTokens).toBeUndefined();
  await session.stored?.write(session, (work) => work(), always);
  const { ids, done, prefill } = await ask(load(), { ids: PROMPT }, options);
  expect(ids).toEqual(first.ids);
  expect(done.usage).toMatchObject({ cachedTokens: 384, storedTokens: 384 });
  expect([done.metrics.cache?.report, prefill[0].total]).toEqual(['stored', 16]);
  const off = await ask(load(), { ids: PROMPT }, { ...options, reuseCache: false });
  expect([off.ids, off.done.usage.cachedTokens]).toEqual([first.ids, 0]);
});
