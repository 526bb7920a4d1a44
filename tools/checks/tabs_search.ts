// `npm run tabs-search -- --ends 100`: four tabs of one origin share an engine in a real browser, and the leading one
// is closed or crashes in mid-answer, again and again. Every text must be that of an undisturbed run. Then: how much
// later an event is in another tab than in the leading one. Exit code 1 where an answer is lost, doubled or wrong.

import type { BrowserContext, Page } from 'playwright-core';
import { randomSource } from '../../test/random';
import { runTool } from '../lib/command_line/terminal';
import { begin, crash, ended, type Heard, leads, type Question, ready, TabSite, tokens } from './tabs_site';

const FLAGS = {
  ends: { kind: 'count', value: 'N', help: 'how often the leading tab is closed or crashes (default 100)' },
  seed: { kind: 'whole', value: 'N', help: 'seed of the first (default 0)' },
} as const;

const TABS = 4;
/** A browser remembers crashes; a fresh one after so many ends. */
const ROUND = 20;
const MAX_TOKENS = 400;

interface Wrong {
  end: number;
  what: string;
}

async function leaderOf(pages: readonly Page[]): Promise<Page> {
  for (;;) {
    for (const page of pages) if (await leads(page)) return page;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** One leader's end, while all tabs have an answer. Returns the tabs that are left, with new ones in the places. */
async function endLeader(
  site: TabSite,
  context: BrowserContext,
  pages: Page[],
  number: number,
  draw: () => number,
  wrong: Wrong[],
): Promise<{ pages: Page[]; answers: number; resumed: number }> {
  const leader = await leaderOf(pages);
  const question: Question = { prompt: 'endless', seed: Math.floor(1e6 * draw()), maxTokens: MAX_TOKENS };
  const others = pages.filter((page) => page !== leader);
  await begin(others[0], `calm ${number}`, question);
  const calm = await ended(others[0], `calm ${number}`);
  for (const page of pages) await begin(page, `hurt ${number}`, question);
  await tokens(others[0], `hurt ${number}`, Math.floor(0.6 * MAX_TOKENS * draw()));
  const isCrash = draw() < 0.5;
  await (isCrash ? crash(leader) : leader.close());
  let resumed = 0;
  for (const page of others) {
    const heard: Heard = await ended(page, `hurt ${number}`);
    resumed += heard.interruptions > 0 ? 1 : 0;
    const isSame = heard.text === calm.text && heard.ids.join() === calm.ids.join();
    if (isSame && heard.end === 'length' && heard.done === 1) continue;
    const what = `${heard.ids.length} ids, end "${heard.end}", ${heard.done} done, ${isSame ? 'the same' : 'another'} text`;
    wrong.push({ end: number, what: `${isCrash ? 'crash' : 'close'}: ${what}` });
  }
  if (isCrash) await leader.close().catch(() => {});
  const fresh = await site.tab(context);
  await ready(fresh);
  return { pages: [...others, fresh], answers: others.length, resumed };
}

async function searchEnds(ends: number, seed: number): Promise<Wrong[]> {
  const draw = randomSource(seed);
  const wrong: Wrong[] = [];
  let [done, answers, resumed] = [0, 0, 0];
  while (done < ends) {
    const site = await TabSite.open();
    const context = await site.browser.newContext();
    let pages = await Promise.all(Array.from({ length: TABS }, () => site.tab(context)));
    for (const page of pages) await ready(page);
    for (const stop = Math.min(ends, done + ROUND); done < stop; done++) {
      const round = await endLeader(site, context, pages, done, draw, wrong);
      pages = round.pages;
      answers += round.answers;
      resumed += round.resumed;
    }
    await site.close();
    console.log(`${done} ends of the leading tab, ${answers} answers (${resumed} interrupted), ${wrong.length} wrong`);
  }
  return wrong;
}

const percentile = (sorted: readonly number[], share: number) => sorted[Math.floor(share * (sorted.length - 1))];

/** Alone and one after another: the time from a token's arrival in the worker to its reader, there and elsewhere. */
async function measureLateness(): Promise<void> {
  const site = await TabSite.open();
  const context = await site.browser.newContext();
  const pages = [await site.tab(context)];
  await ready(pages[0]);
  pages.push(await site.tab(context));
  await ready(pages[1]);
  const late: [number[], number[]] = [[], []];
  for (let i = 0; i < 20; i++) {
    await begin(pages[i % 2], `late ${i}`, { prompt: 'endless', seed: i, maxTokens: MAX_TOKENS });
    late[i % 2].push(...(await ended(pages[i % 2], `late ${i}`)).lateMs);
  }
  await site.close();
  const [own, other] = late.map((list) => list.sort((a, b) => a - b));
  const line = (list: number[]) => [0.5, 0.95, 0.99].map((share) => percentile(list, share).toFixed(2)).join(', ');
  console.log(`ms from the worker to the reader, p50, p95, p99: leading tab ${line(own)}; another tab ${line(other)}`);
}

await runTool('npm run tabs-search --', FLAGS, async ({ ends = 100, seed = 0 }) => {
  const wrong = await searchEnds(ends, seed);
  await measureLateness();
  for (const { end, what } of wrong) console.log(`  wrong: end ${end}: ${what}`);
  if (wrong.length > 0) process.exitCode = 1;
});
