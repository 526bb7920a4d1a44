// `npm run check-models [-- --only NAME]`: every model of test/fixtures on the GPU of this machine, in Chromium or with
// `--firefox PATH` in Firefox: 32 greedy ids in f32 must be those of transformers, whatever the attention sibling and
// the type of keys and values. Exit code 1 where one differs or does not load.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { askPage, blankPage } from '../lib/browser/blank_page';
import { launchChromium } from '../lib/browser/chromium';
import { firefoxPage } from '../lib/browser/firefox';
import { ensureBuilt } from '../lib/bundle/dist';
import { runTool } from '../lib/command_line/terminal';
import { ROOT } from '../lib/ensure.mjs';
import { PAGE_MOUNTS } from '../lib/generate/generate_in_page';
import { type Handler, serve } from '../lib/serve';
import type { AnswerIds } from '../page/answer_ids';

const FLAGS = {
  only: {
    kind: 'texts',
    value: 'NAME',
    help: 'a folder of test/fixtures/llama or test/fixtures/architectures; may be given again (default: all)',
  },
  firefox: { kind: 'text', value: 'PATH', help: 'the program of Firefox to run them in (default: in Chromium)' },
} as const;

/** The attention siblings and the types of keys and values that each model is asked with. */
const WAYS = [
  { kvCache: 'f32', attention: 'auto' },
  { kvCache: 'f16', attention: 'auto' },
  { kvCache: 'f32', attention: 'split_kv_decode' },
  { kvCache: 'f32', attention: 'eager' },
] as const;
/** The context that the fixtures of dynamic and longrope scaling were computed for. */
const CONTEXT = 48;
const ROOMS = ['llama', 'architectures'].map((room) => path.join(ROOT, 'test/fixtures', room));
/** Token i is the character FIRST + i, because the fixtures have ids and no words. */
const FIRST = 0x4e00;

const spelled = (ids: readonly number[]) => String.fromCodePoint(...ids.map((id) => FIRST + id));

/** A tokenizer.json with a character for each token of the model in `folder`. */
function tokenizer(folder: string): string {
  const { vocab_size: size } = JSON.parse(readFileSync(path.join(folder, 'config.json'), 'utf8'));
  const vocab = Object.fromEntries(Array.from({ length: size }, (_, id) => [spelled([id]), id]));
  return JSON.stringify({ model: { type: 'BPE', vocab, merges: [] } });
}

function compare(made: readonly number[], wanted: readonly number[]): string {
  const at = wanted.findIndex((id, i) => id !== made[i]);
  return at < 0 ? 'equal' : `differs at token ${at}: ${made[at]} instead of ${wanted[at]}`;
}

type Ask = <Answer>(request: unknown) => Promise<Answer>;

/** Asks one model in every way and prints a line for each. True when all answers are right. */
async function check(ask: Ask, folder: string): Promise<boolean> {
  const name = path.basename(folder);
  const greedy: { promptIds: number[]; ids: number[] } = JSON.parse(
    readFileSync(path.join(folder, 'greedy.json'), 'utf8'),
  );
  const { promptIds, ids } = greedy;
  let isRight = true;
  for (const way of WAYS) {
    const request = { task: 'answer', model: `/${name}/`, prompt: spelled(promptIds), tokens: ids.length };
    const load = { ...way, contextLength: CONTEXT };
    const said = await ask<{ answer: AnswerIds }>({ ...request, load }).then(
      ({ answer: made }) => [compare(made.ids, ids), made.adapter, ...made.warnings],
      (error) => [String(error).split('\n')[0]],
    );
    isRight &&= said[0] === 'equal';
    console.log(`${name}, ${way.kvCache} keys and values, attention ${way.attention}: ${said.join('; ')}`);
  }
  return isRight;
}

function serveModels(folders: readonly string[], page: Record<string, Handler>) {
  const sendTokenizer =
    (folder: string): Handler =>
    (_, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(tokenizer(folder));
  const named = folders.map((folder) => [path.basename(folder), folder] as const);
  return serve({
    mounts: { ...PAGE_MOUNTS, ...Object.fromEntries(named.map(([name, folder]) => [`/${name}/`, folder])) },
    handlers: {
      ...page,
      ...Object.fromEntries(named.map(([name, folder]) => [`/${name}/tokenizer.json`, sendTokenizer(folder)])),
    },
  });
}

/** A page that answers, and what ends its browser. */
interface Asked {
  handlers: Record<string, Handler>;
  open(url: string): Promise<{ ask: Ask; close(): Promise<void> }>;
}

const SCRIPT = '/tools.js';

const inChromium: Asked = {
  handlers: { '/': blankPage(SCRIPT) },
  async open(url) {
    const browser = await launchChromium();
    const page = await browser.newPage();
    await page.goto(url);
    return { ask: (request) => askPage(page, request), close: () => browser.close() };
  },
};

function inFirefox(program: string): Asked {
  const { handlers, open, ask } = firefoxPage(SCRIPT);
  return { handlers, open: async (url) => ({ ask, close: await open(url, program) }) };
}

await runTool('npm run check-models --', FLAGS, async ({ only, firefox }) => {
  await ensureBuilt();
  const folders = ROOMS.flatMap((room) => readdirSync(room).map((name) => path.join(room, name))).filter(
    (folder) => existsSync(path.join(folder, 'greedy.json')) && (only?.includes(path.basename(folder)) ?? true),
  );
  const { handlers, open } = firefox ? inFirefox(firefox) : inChromium;
  const server = await serveModels(folders, handlers);
  try {
    const { ask, close } = await open(server.url);
    try {
      let wrong = 0;
      for (const folder of folders) if (!(await check(ask, folder))) wrong++;
      console.log(`${folders.length - wrong} of ${folders.length} models are right`);
      process.exitCode = wrong === 0 && folders.length > 0 ? 0 : 1;
    } finally {
      await close();
    }
  } finally {
    await server.close();
  }
});
