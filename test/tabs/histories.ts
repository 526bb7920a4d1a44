// Random histories of tabs that share an engine: `npm test` plays some of them.

import type { EngineEvent } from '../../src/engine/engine';
import { randomSource } from '../random';
import { idAt, type Read, read, type SimTab, World } from './simulation';

interface Asked {
  tab: SimTab;
  text: string;
  seed: number;
  maxTokens: number;
  stop: AbortController;
  heard: Read;
}

/** What histories have shown. */
export interface Counts {
  answers: number;
  loads: number;
  crashes: number;
  freezes: number;
  hidden: number;
  resumed: number;
  wrong: string[];
}

export const newCounts = (): Counts => ({
  answers: 0,
  loads: 0,
  crashes: 0,
  freezes: 0,
  hidden: 0,
  resumed: 0,
  wrong: [],
});

const TABS = 4;
const STEPS = 40;

/** The answer of an engine that nothing disturbs. */
function undisturbed({ text, seed, maxTokens }: Asked): number[] {
  const promptIds = Array.from(JSON.stringify({ prompt: text }).slice(0, 40), (c) => c.charCodeAt(0));
  const ids: number[] = [];
  while (ids.length < maxTokens) ids.push(idAt(promptIds, ids, seed));
  return ids;
}

/** What is wrong with what a tab has heard, or ''. */
function wrongIn(asked: Asked): string {
  const { heard, stop, maxTokens } = asked;
  const { events, error, isOver } = heard;
  if (error) return `failed: ${error}`;
  if (!isOver) return `never ended, after ${events.length} events`;
  const of = <T extends EngineEvent['type']>(type: T) =>
    events.filter((event): event is Extract<EngineEvent, { type: T }> => event.type === type);
  const ids = of('token').map(({ id }) => id);
  const [done] = of('done');
  if (of('done').length !== 1 || events[events.length - 1] !== done) return 'has not one end';
  if (of('start').length > 1) return 'began twice';
  const expected = undisturbed(asked).slice(0, stop.signal.aborted ? ids.length : maxTokens);
  if (ids.join() !== expected.join()) return `has other ids: ${ids} instead of ${expected}`;
  const first = of('start')[0]?.promptIds.length;
  if (of('token').some(({ position }, i) => position !== (first ?? 0) + i)) return 'has other positions';
  if (!stop.signal.aborted && done.finishReason !== 'length') return `ended with ${done.finishReason}`;
  return '';
}

/**
 * Opens tabs, asks, stops, crashes, closes, freezes, hides, robs, and loses workers and messages; then looks at every
 * answer.
 */
export async function play(seed: number, counts: Counts, onTime: (ms: number) => void): Promise<void> {
  const draw = randomSource(seed);
  const world = new World(seed + 1e6, onTime);
  const one = <T>(list: readonly T[]): T | undefined => list[Math.floor(draw() * list.length)];
  const live = () => world.tabs.filter(({ isGone, engine }) => !isGone && engine);
  const answers: Asked[] = [];
  world.losses = draw() < 0.5 ? 0 : 0.02 * draw();

  function ask(tab: SimTab): void {
    const stop = new AbortController();
    const [text, maxTokens] = [`prompt ${answers.length}`, 1 + Math.floor(80 * draw())];
    const options = { seed: Math.floor(1e6 * draw()), maxTokens, signal: stop.signal };
    const heard = read(tab.engine!.complete(text, options));
    answers.push({ tab, text, seed: options.seed, maxTokens, stop, heard });
  }

  const actions: ((tab: SimTab) => unknown)[] = [
    ...Array<(tab: SimTab) => unknown>(8).fill((tab) => !tab.isFrozen && ask(tab)),
    () => one(answers.filter(({ heard }) => !heard.isOver))?.stop.abort(),
    (tab) => {
      counts.crashes++;
      world.crash(tab);
    },
    () => {
      const leader = world.tabs.find(({ model }) => model);
      if (!leader) return;
      counts.crashes++;
      world.crash(leader);
    },
    () => {
      const leader = world.tabs.find(({ model }) => model);
      if (leader) leader.isFrozen = true;
      counts.freezes++;
    },
    () => {
      for (const tab of world.tabs) world.wake(tab);
    },
    (tab) => {
      counts.hidden++;
      world.hide(tab.model ? tab : (world.tabs.find(({ model }) => model) ?? tab));
    },
    () => world.rob(),
    (tab) => tab.model?.loseWorker(),
    () => void (world.tabs.filter(({ isGone }) => !isGone).length < TABS && world.open()),
  ];

  for (let i = 0; i < TABS; i++) world.open();
  await world.pass(300);
  for (let step = 0; step < STEPS; step++) {
    if (live().length < 2) world.open();
    const tab = one(live());
    if (tab) one(actions)?.(tab);
    await world.pass(draw() < 0.1 ? 15_000 * draw() : 60 * draw());
  }
  world.losses = 0;
  for (const tab of world.tabs) world.wake(tab);
  await world.pass(120_000);

  const said = (what: string) => counts.wrong.push(`seed ${seed}: ${what}`);
  for (const asked of answers) {
    if (asked.tab.isGone) continue;
    counts.answers++;
    if (asked.heard.events.some(({ type }) => type === 'recovered')) counts.resumed++;
    const wrong = wrongIn(asked);
    if (wrong) said(`the answer to "${asked.text}" in ${asked.tab.name} ${wrong}`);
  }
  const leading = world.tabs.filter(({ isGone, host }) => !isGone && host?.leads);
  if (leading.length !== 1) said(`${leading.length} tabs lead`);
  for (const { name, isGone, failure, model, engine } of world.tabs) {
    if (isGone) continue;
    if (failure || !engine) said(`${name} has no engine: ${failure}`);
    if (engine && engine.health.state !== 'well') said(`${name} is ${engine.health.state}`);
    if (model && model.active > 0) said(`${name} still runs ${model.active} answers`);
    if (model && model.running.size > 0) said(`${name} still counts ${model.running.size} answers`);
  }
  counts.loads += world.loads;
}
