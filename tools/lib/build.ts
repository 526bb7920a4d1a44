// Builds dist/: the page, the package's ESM entries with their types, the script tag, its panel and its worker, and
// weighs what has a budget. Files are written in place and old ones removed at the end, so that a page being served
// never finds its folder empty.

import { existsSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import viteConfig from '../../vite.config';
import { declareTypes } from './declare_types';
import { DIST, filesBelow, fingerprint, writeStamp } from './dist';
import { ROOT } from './ensure.mjs';
import { writeShellWorker } from './shell_worker';
import { bundleWorker } from './worker_plugin';

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
  'embed',
  'panel',
  'german',
  'japanese',
  'code',
  'math',
  'remember',
  'constraint',
  'bench',
  'tools',
];

/**
 * KB (1000 bytes) of gzip: the budget is what we owe, the ceiling what a build may not pass on the way there. Ten
 * architectures, the formats of GGUF, hubs with their hashes, three kinds of tokenizer and bounds for hostile files
 * took the engine core from 99 KB to 125 (storage 5, text 4, model 4.5, SHA-256 2.5, tokenizer library 1, the rest in
 * shaders, kernels and the CPU's textbook). Mending what was wrong took the core to 134: who wrote each character of a
 * prompt, and templates that mean what they mean in Python (text 3.5), damaged files fetched again (storage and load
 * 2), dead workers, lost GPUs and aborts (engine 2), sizes that are no multiple of 32 (model 1). Inlined constants and
 * the order of modules took it back to 132. The fused step took it to 149. What a chat's interface needs took it to
 * 166: calls of tools 3.6, thinking and the split of an answer 2, what a template takes 1.4, checks of requests 1.6,
 * log probabilities 1.4, penalties and biases 1, embeddings 1.5, and ties between them. Going on after faults took it
 * to 176: a supervisor that loads again, resumes answers and finds out who hangs 3.1, memory planned and named 2.1, a
 * search for NaN and a check in idle 2, storage that never keeps a load waiting 1.1, answers that go on, pauses and
 * patience in the worker the rest. None of it comes later in chunks: the script tag and the
 * package's engine are one file each, which needs no other beside it (the page's worker comes in parts,
 * worker_parts.ts). What the reader sees of a recovery took the script tag 1.
 * Texts that can be translated are reached by name, which no minifier shortens: 5 for the tag
 * (whole sentences, which other languages need), 5 for the panel.
 * A chart that fills the window, zooms and has a legend took the panel 4, and repeated runs with their spread 3.5.
 * Answers that go on, their writers and
 * versions, and files of a question took the tag 1.5. Targets for fingers and marks in forced colors took it 0.5.
 * The list of runs took the panel 9.7: checks of each field of a document from a file and the run made of it 5, the
 * store 1.5, the list with its buttons and texts 3; and the tag 0.3, for lines of figures that open a run.
 * Kernels that read prompts faster took the core 1: exact ones 0.2, the attention of long ones 0.7.
 * Passes that differ in arithmetic took the core 0.1. The race that decides between arithmetics while a model loads
 * took 2.9: its products, laps and rules 2.1, its record in the profile 0.4, the choice of a load 0.4. What the
 * panel says of it took the panel 0.6.
 * Texts of the chart, of tuning and of the figures that can be translated took the panel 1.7.
 * Conversations that are kept beside the cache took the core 2.5, answers that keep their ids 0.6, and
 * saying what was reused the panel 0.4.
 * An element with the size of its place and notices without names of kernels took the tag 0.3.
 * A tag that remembers its conversation took it 0.3: what stores, restores and deletes is a file of its own.
 * Reasons of the engine that are said in each language took the panel 0.5 and the core 0.1.
 * Errors that are said by their code took the tag and the page 0.6 and the panel 0.4 (formats of numbers, names and
 * sizes, a fold for the error's own sentence), and the numbers of warnings the core 0.1. The sentences of German and
 * Japanese lie in their files.
 * Icons of the list of runs, stalls in groups and figures that follow a load took the panel 0.4.
 * Constraints took the core 4.1: kernels 1, the textbook walk, tables and a ring of places 1.5, what a vocabulary can
 * write 0.8, checks and places of answers 0.8. Their compiler, 14, is a file of its own that comes with the first one.
 * The fields that ask for them took OpenAI's interface 0.3. Calls with constrained arguments and documents behind
 * thinking took the core 1.5 (the form of answers 0.5, what a request asks for and kept constraints 0.7, places behind
 * what a prompt begins 0.3) and the compiler 3.3: answers, their arguments, and words that are looked for in free text.
 * A schema that is copied as JSON, and sets of letters that are made once, took the compiler 0.1.
 * Modules of their own for what the page's worker imports later took the core 0.5: the checks of a part that came,
 * plans of attention apart from their kernels.
 * Shares of k, and kernels by the size of a pass, took the core 0.5.
 * Numbers of errors in every language, and figures that a tag may leave out, took the tag 0.2. Advice that
 * follows the language took it 0.2.
 * Prompts that are there after a reload took the core 4.1: names and checks of pieces 0.8, their folder and its
 * bound 1.3, what is read and written when 1.3, keys and values as bytes 0.5, the rest ties. Their place in the list of
 * models took the page 0.4.
 * Requests that take turns took the core 2: whose turn it is 0.9, what an answer sets aside and brings back 1.1.
 * Pieces that are read, hashed and written in threads took the core and the page's worker 0.8: loads take half as long.
 * Answers of servers took the panel 0.9: their figures and texts, their stalls and their documents.
 * Words of common GGUF files without the library, so that the page's worker can go without it, took the core 0.4. What
 * waits for the part of stored prompts took the script tag 0.2, and what else comes when it is called 0.1.
 * Keys and values in signed bytes took the core 1.1: their scales in the kernels of attention 0.4, the check of these
 * kernels 0.3, places of values and scales 0.2, and what writes them. The fused step on them took it 0.6.
 */
export const BUDGETS = [
  { name: 'engine core', files: ['lib/vivace.js'], budgetKb: 60, ceilingKb: 200.8 },
  { name: 'embed script with UI', files: ['embed.js'], budgetKb: 160, ceilingKb: 256.2 },
  { name: 'panel of the embed', files: ['embed_panel.js'], budgetKb: 60, ceilingKb: 81.9 },
  { name: 'embed script with its panel', files: ['embed.js', 'embed_panel.js'], budgetKb: 220, ceilingKb: 337.9 },
  { name: "OpenAI's interface", files: ['lib/openai.js', 'lib/openai_request.js'], budgetKb: 8, ceilingKb: 8.4 },
  { name: "OpenAI's responses", files: ['lib/openai_responses.js'], budgetKb: 3, ceilingKb: 3.5 },
  { name: 'the Prompt API', files: ['lib/prompt_api.js'], budgetKb: 5, ceilingKb: 6.3 },
  { name: "WebLLM's interface", files: ['lib/webllm.js'], budgetKb: 3, ceilingKb: 3 },
  { name: 'an engine that is a server', files: ['lib/remote.js'], budgetKb: 15, ceilingKb: 15 },
  { name: 'colors of code for the embed', files: ['embed_code.js'], budgetKb: 53, ceilingKb: 53 },
  { name: 'kept conversation for the embed', files: ['embed_remember.js'], budgetKb: 13, ceilingKb: 13.2 },
  { name: 'math for the embed', files: ['embed_math.js'], budgetKb: 62, ceilingKb: 62 },
  { name: 'constraints', files: ['lib/constraint.js'], budgetKb: 15, ceilingKb: 18.2 },
];

/**
 * The page, by what a visitor waits for. Before the first paint: index.html, its style sheets, its scripts and what
 * they import at once. Until the first token the worker comes with them, which the page begins to fetch while it
 * paints. The panel, the texts of other languages and whatever else is imported when it is needed are in neither.
 * Models as cards, the search, attached files, presets and their texts took them from 72 and 239 to 98 and 265.
 * Dialogs, the search, files and exports that come right after the first paint, and one file for all that comes at once
 * (first_file.ts), took them back to 88.5 and 257. Sentences for errors by their code, with a fold, took them 1.5.
 * The race of arithmetics took the second 3. Parts of the worker that a first answer needs none of took it from 268.7
 * to 250.5: the tuner and the roofline, the CPU, baselines of attention, hubs, folders with config.json, constraints,
 * vectors of texts. Advice that follows the language took both 0.1. The fused step (10.6, where a GPU may run it) and
 * the race (2.5, on a first visit) are parts that come beside the weights: without them it went from 257.1 to 244.1.
 * The list of models and what it means on this machine, a part that is asked for at the start, took both 2.3 less.
 * Calls with constrained arguments took both 0.5, and answers as JSON 0.6: the rest of these comes later. The script
 * tag shares 0.3 of that: the place in the settings and the look at the end of an answer.
 * What tokenizer.json may ask for, with the library that does it, is a part that a GGUF file of its own needs none of:
 * 9.7. Stored prompts are one that comes at once only where an earlier visit left some: 2.1. Keys and
 * values in signed bytes took the second 1; what reads and writes the bytes is a part of its own.
 * What constrains answers, and figures of stored prompts, come to the page when they are called: both 1 less. Calls are
 * read by a part that comes with the first tools, files of split models by another: the second 2.3 less.
 */
const PAGE_BUDGETS = [
  { name: 'page before its first paint', hasWorker: false, budgetKb: 180, ceilingKb: 89.5 },
  { name: 'page until its first token', hasWorker: true, budgetKb: 180, ceilingKb: 231.8 },
];

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

const buildMode = (mode: string) =>
  build({ ...viteConfig({ command: 'build', mode }), root: ROOT, configFile: false, mode, logLevel: 'warn' });

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

export async function buildAll() {
  process.env.NODE_ENV = 'production'; // whoever builds, a test run too: libraries bring a slower twin for development
  const before = await fingerprint();
  const startedMs = Date.now() - CLOCK_SLACK_MS;
  for (const mode of BUILDS) {
    const output = await buildMode(mode);
    if (mode === 'page') await writeShellWorker(filesOf(output));
  }
  await writeFile(path.join(DIST, 'vivace_worker.js'), await bundleWorker());
  await declareTypes();
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
  for (const { name, files, ...limits } of [...BUDGETS, ...(await Promise.all(pages))]) {
    const built = files.map((file) => path.join(DIST, file));
    if (!built.every((file) => existsSync(file))) continue;
    let kb = 0;
    for (const file of built) kb += gzipSync(await readFile(file), { level: 9 }).length / 1000;
    weighed.push({ name, files: files.map((file) => `dist/${file}`).join(' + '), kb, ...limits });
  }
  return weighed;
}
