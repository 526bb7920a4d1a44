// Builds dist/: the page, the package's ESM entries with their types, the script tag, its panel and its worker, and
// weighs what has a budget. Files are written in place and old ones removed at the end, so that a page being served
// never finds its folder empty.

import { existsSync, readdirSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type InlineConfig, type Rolldown } from 'vite';
import viteConfig from '../../../vite.config';
import { ROOT } from '../ensure.mjs';
import { declareTypes } from './declare_types';
import { DIST, filesBelow, fingerprint, writeStamp } from './dist';
import { LICENSES, licenses } from './license_plugin';
import { writeShellWorker } from './shell_worker';
import { bundlingOnce, wholeScript } from './worker_plugin';

/** The modes of vite.config.ts. */
const BUILDS = [
  'page',
  'lib',
  'compiler',
  'elements',
  'server',
  'openai',
  'prompt',
  'webllm',
  'remote',
  'tabs',
  'embed',
  'panel',
  'german',
  'japanese',
  'code',
  'math',
  'remember',
  'constraint',
  'served',
  'tag-tabs',
  'bench',
  'tools',
];

/**
 * What somebody waits for, in KB (1000 bytes) of gzip. The budget is what we owe, the ceiling what a build may not pass
 * on the way there. A `*` stands for the hash of a file.
 * The core is what `import { Engine }` brings before a load. A first answer takes the code of the worker with it, and a
 * GGUF of a hub one part more. What only some GPUs, files or questions need is in neither: the CPU, the fused step, the
 * race of a first visit, other formats, constraints, calls, typed control tokens, stored prompts, the tuner, the check
 * in idle; and the branches of a second conversation, for which a load asks at its end and nobody waits. The script tag
 * is what a page fetches before a visitor opens the chat. Rings of layers with a window took up to 1.5 of a first
 * answer; an engine whose model may be in another tab took the core 0.3. The name that an unknown option was meant to
 * be, said by each call, took a first answer 0.3. Templates that print as Python does, and rounds of their loops, took
 * it 0.6, their steps by the size of a request 0.1, and numbers of calls as Python prints them 0.4. The last layer of a
 * prompt, which runs one token where one is enough, took it 0.4, and templates and calls that were not read 0.5.
 * Bytes that gate and up leave for down, and the check of an fma, took it 1.2.
 * Servers are parts of their own. What waits for them took the core 0.1 (who answers, if not the engine), the tag 1
 * (attributes, the way to the part, answers that move) and the panel 0.7 (places of tokens in chart, legend, runs).
 * That a file of conversations is told as such where runs are imported took the panel 0.1.
 * The attribute `data-share` and the way to its part took the tag 0.2. Hosts, addresses and durations took constraints
 * 0.2. Checks of a model's name and of `tools` took an engine that is a server 0.1.
 */
export const BUDGETS = [
  { name: 'core of the package', files: ['lib/vivace.js'], budgetKb: 60, ceilingKb: 15.3 },
  {
    name: 'code of a first answer from a hub',
    files: ['lib/vivace.js', 'lib/vivace_worker_core-*.js', 'lib/vivace_worker_part_hub_model-*.js'],
    budgetKb: 110,
    ceilingKb: 149.9,
  },
  // 0.2 KB of them: the cost of a context with windows, in the settings; 0.5: waits that end, words for any model;
  // 0.1: a panel that comes in the middle of an answer waits for the next one; 0.1: each caller of a load hears of its
  // progress, and a chat that its page moves goes on with its answer; 0.5: an element prints its whole conversation,
  // which cannot wait for a part, since a print does not wait.
  { name: 'embed script with UI', files: ['embed.js'], budgetKb: 160, ceilingKb: 71.2 },
  { name: 'panel of the embed', files: ['embed_panel.js'], budgetKb: 60, ceilingKb: 80.8 },
  { name: "OpenAI's interface", files: ['lib/openai.js', 'lib/openai_shared.js'], budgetKb: 8, ceilingKb: 8.8 },
  { name: "OpenAI's completions", files: ['lib/openai_completions.js'], budgetKb: 1, ceilingKb: 1 },
  { name: "OpenAI's embeddings", files: ['lib/openai_embeddings.js'], budgetKb: 1, ceilingKb: 1 },
  { name: "OpenAI's responses", files: ['lib/openai_responses.js'], budgetKb: 3, ceilingKb: 3.5 },
  { name: 'the Prompt API', files: ['lib/prompt_api.js'], budgetKb: 5, ceilingKb: 6.5 },
  { name: "WebLLM's interface", files: ['lib/webllm.js'], budgetKb: 3, ceilingKb: 3 },
  { name: 'an engine that is a server', files: ['lib/remote.js'], budgetKb: 15, ceilingKb: 15.5 },
  { name: 'one engine for all tabs', files: ['lib/tabs.js'], budgetKb: 7, ceilingKb: 7 },
  { name: 'colors of code for the embed', files: ['embed_code.js'], budgetKb: 53, ceilingKb: 53 },
  { name: 'kept conversation for the embed', files: ['embed_remember.js'], budgetKb: 13, ceilingKb: 13.4 },
  { name: 'servers for the embed', files: ['embed_server.js'], budgetKb: 30, ceilingKb: 30 },
  { name: 'math for the embed', files: ['embed_math.js'], budgetKb: 62, ceilingKb: 62 },
  { name: 'one engine for all tabs, for the embed', files: ['embed_tabs.js'], budgetKb: 7, ceilingKb: 7 },
  { name: 'constraints', files: ['lib/constraint.js'], budgetKb: 15, ceilingKb: 19 },
];

/**
 * The page, by what a visitor waits for. Before the first paint: index.html, its style sheets, its scripts and what
 * they import at once. Until the first token the code of the worker comes with them, which the page begins to fetch
 * while it paints. The parts that BUDGETS names, the panel and the texts of other languages are in neither. What waits
 * for a server took both 1.4: the way to its part, places in the chat, answers that move and who signs them. Waits that
 * an abort ends, and words for any model, took both 0.5. Templates that print as Python does took the worker 0.6,
 * steps by the size of a request 0.1, numbers of calls as Python prints them 0.4, the last layer of a prompt 0.4, and
 * templates and calls that were not read 0.5. Bytes that gate and up leave for down, and the check of an fma, took the
 * worker 1.2; submits that fit the speed of a GPU, and are sent while the rest is recorded, 0.4. An
 * answer that is busy until its last letter is written took both 0.1.
 */
const PAGE_BUDGETS = [
  { name: 'page before its first paint', hasWorker: false, budgetKb: 180, ceilingKb: 93.1 },
  { name: 'page until its first token', hasWorker: true, budgetKb: 180, ceilingKb: 225.5 },
];

/** The built file below dist/ that a name with a `*` means. */
function builtFile(name: string): string {
  const [start = '', end = ''] = path.basename(name).split('*');
  const folder = path.join(DIST, path.dirname(name));
  const found = name.includes('*') && existsSync(folder) ? readdirSync(folder) : [];
  const file = found.find((other) => other.startsWith(start) && other.endsWith(end));
  return file ? path.join(path.dirname(name), file) : name;
}

/** What index.html names: its scripts with what they import at once, its style sheets and, if asked, its worker. */
async function pageFiles(hasWorker: boolean): Promise<string[]> {
  const html = await readFile(path.join(DIST, 'index.html'), 'utf8').catch(() => '');
  const files = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.(?:js|css))"/g)].map((match) => match[1] ?? '');
  return ['index.html', ...files.filter((file) => hasWorker || !/worker-\w+\.js$/.test(file))];
}

/** Removes what an earlier build left: everything not written since this one began. */
async function prune(sinceMs: number) {
  for (const file of await filesBelow(DIST)) {
    const { mtimeMs } = await stat(file);
    if (mtimeMs < sinceMs) await rm(file, { force: true });
  }
}

const CLOCK_SLACK_MS = 2000; // file systems round their times

/** The configuration of one of BUILDS. */
export const modeConfig = (mode: string): InlineConfig => ({
  ...viteConfig({ command: 'build', mode }),
  root: ROOT,
  configFile: false,
  mode,
  logLevel: 'warn',
});

const buildMode = (mode: string) => build(modeConfig(mode));

/** The files that a build has written, below dist/. */
function filesOf(output: Awaited<ReturnType<typeof buildMode>>): string[] {
  const results = [output].flat() as Rolldown.RolldownOutput[];
  return results.flatMap((result) => result.output.map(({ fileName }) => fileName));
}

/** Bundles the clients of OpenAI's interface for the bench. */
export async function buildClients(): Promise<void> {
  process.env.NODE_ENV = 'production';
  await buildMode('clients');
}

async function buildBundles() {
  for (const mode of BUILDS) {
    const output = await buildMode(mode);
    if (mode === 'page') await writeShellWorker(filesOf(output));
  }
  await writeFile(path.join(DIST, 'vivace_worker.js'), await wholeScript());
  await writeFile(path.join(DIST, LICENSES), licenses());
}

export async function buildAll() {
  process.env.NODE_ENV = 'production'; // whoever builds, a test run too: libraries bring a slower twin for development
  const before = await fingerprint();
  process.env.VIVACE_BUILD = before.slice(0, 16); // tabs of other builds share no engine
  const startedMs = Date.now() - CLOCK_SLACK_MS;
  await Promise.all([bundlingOnce(buildBundles), declareTypes()]); // the types' compiler is a process of its own
  await prune(startedMs);
  await writeStamp(before);
}

interface Weighed {
  name: string;
  files: string;
  kb: number;
  budgetKb: number;
  ceilingKb: number;
}

/** The gzipped size of everything that has a budget and has been built. */
export async function weigh(): Promise<Weighed[]> {
  const pages = PAGE_BUDGETS.map(async ({ hasWorker, ...rest }) => ({ ...rest, files: await pageFiles(hasWorker) }));
  const weighed: Weighed[] = [];
  for (const { name, files: names, ...limits } of [...BUDGETS, ...(await Promise.all(pages))]) {
    const files = names.map(builtFile);
    const built = files.map((file) => path.join(DIST, file));
    if (!built.every((file) => existsSync(file))) continue;
    let kb = 0;
    for (const file of built) kb += gzipSync(await readFile(file), { level: 9 }).length / 1000;
    weighed.push({ name, files: files.map((file) => `dist/${file}`).join(' + '), kb, ...limits });
  }
  return weighed;
}
