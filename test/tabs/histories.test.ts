// Random histories of four tabs, and each fault by itself, in simulated time.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { InvalidRequestError } from '../../src/errors';
import { randomSource } from '../random';
import { newCounts, play } from './histories';
import { type Read, read, TUNED, World } from './simulation';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const HISTORIES = Number(process.env.VIVACE_RUNS ?? 100);

test(`${HISTORIES} histories: no answer is lost, doubled or another one than undisturbed`, async () => {
  const counts = newCounts();
  for (let i = 0; i < HISTORIES; i++) await play(i, counts, (ms) => vi.advanceTimersByTime(ms));
  expect(counts.wrong).toEqual([]);
  const { answers, crashes, freezes, hidden, resumed } = counts;
  for (const count of [answers, crashes, freezes, hidden, resumed]) expect(count).toBeGreaterThan(HISTORIES / 4);
});

test('no answer is interrupted where nothing happens to a tab or a message', async () => {
  const world = new World(7, (ms) => vi.advanceTimersByTime(ms));
  const draw = randomSource(8);
  const tabs = [world.open(), world.open(), world.open()];
  await world.pass(300);
  world.messageMs = 100;
  const heard: Read[] = [];
  for (let i = 0; i < 300; i++) {
    const tab = tabs[Math.floor(tabs.length * draw())];
    heard.push(read(tab.engine!.complete('prompt', { seed: i, maxTokens: 1 + Math.floor(9 * draw()) })));
    await world.pass(20 * draw());
  }
  await world.pass(5_000);
  expect(heard.filter(({ isOver, error }) => !isOver || error)).toEqual([]);
  expect(heard.filter(({ events }) => events.some(({ type }) => type === 'interrupted'))).toHaveLength(0);
});

test('a tab that follows tunes the model: it hears each result, and both tabs name the choice', async () => {
  const world = new World(11, (ms) => vi.advanceTimersByTime(ms));
  const [leader, follower] = [world.open(), world.open()];
  await world.pass(300);
  expect([leader.host?.leads, follower.host?.leads]).toEqual([true, false]);
  const heard: unknown[] = [];
  const tuning = follower.engine!.tune({ onResult: (result, done, total) => heard.push([result, done, total]) });
  await world.pass(100);
  expect(await tuning).toEqual({ results: [{ name: 'slow' }, { name: 'fast' }], ...TUNED, stored: true });
  expect(heard).toEqual([
    [{ name: 'slow' }, 1, 2],
    [{ name: 'fast' }, 2, 2],
  ]);
  for (const { engine } of [leader, follower]) expect(engine!.info.attention).toEqual(TUNED.attention);
});

test('texts that the model refuses to count hold no place at the desk of the leading tab', async () => {
  const world = new World(9, (ms) => vi.advanceTimersByTime(ms));
  const tabs = [world.open(), world.open()];
  await world.pass(300);
  const model = tabs.find((tab) => tab.model)!.model!;
  const follower = tabs.find((tab) => !tab.model)!;
  model.tokenize = async () => {
    throw new InvalidRequestError('no such text');
  };
  const refused: unknown[] = [];
  for (let i = 0; i < 300; i++) follower.host!.tokenize({ prompt: 'x' }, {}).catch((e) => refused.push(e));
  await world.pass(30_000);
  expect(refused).toHaveLength(300);
  expect(model.running.size).toBe(0);
  const heard = read(follower.engine!.complete('prompt', { seed: 1, maxTokens: 3 }));
  await world.pass(30_000);
  expect([heard.error, heard.isOver]).toEqual([null, true]);
  expect(heard.events.some(({ type }) => type === 'interrupted')).toBe(false);
});
