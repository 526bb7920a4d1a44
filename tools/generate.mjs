// `npm run --silent generate -- --prompt TEXT`: the engine in headless Chromium, text to stdout as it comes, then the TBT table.
// Exit code 0 for an answer, 1 for a typed error, 2 for a command line that cannot be understood, 130 after Ctrl-C.

import { ensurePackages } from './lib/ensure.mjs';
import { parseFlags, UsageError, usage } from './lib/flags.mjs';

/** @typedef {import('./lib/page_run.mjs').Request} Request */

/** @returns {import('./lib/flags.mjs').Values} */
function readFlags() {
  try {
    return parseFlags(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n${usage()}`);
    process.exit(2);
  }
}

/** What was not asked for stays the engine's choice. @param {Record<string, unknown>} record */
function given(record) {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

/** @param {import('./lib/flags.mjs').Values} flags @returns {Omit<Request, 'model'> & { model: string | undefined }} */
function toRequest(flags) {
  return {
    model: flags.model === undefined ? undefined : String(flags.model),
    prompt: String(flags.prompt),
    chat: flags.chat ? true : flags.raw ? false : null,
    load: given({
      contextLength: flags.context,
      attention: flags.attention,
      kvCache: flags.kv,
      quantize: flags.quantize,
      activations: flags.activations,
      backend: flags.backend,
      hubUrl: flags.hub,
      sha256: flags.sha256,
    }),
    options: given({
      maxTokens: flags['max-tokens'],
      temperature: flags.temperature ?? 0, // a measurement can be repeated unless asked otherwise
      topK: flags['top-k'],
      topP: flags['top-p'],
      minP: flags['min-p'],
      repetitionPenalty: flags['repetition-penalty'],
      seed: flags.seed ?? 0,
      stop: flags.stop,
      runAhead: flags['run-ahead'],
    }),
  };
}

/** One line that rewrites itself, on a terminal only. @param {import('./lib/page_run.mjs').LoadProgress} progress */
function showProgress({ stage, loadedBytes, totalBytes }) {
  if (!process.stderr.isTTY) return;
  const share = totalBytes > 0 ? ` ${Math.floor((100 * loadedBytes) / totalBytes)} %` : '';
  process.stderr.write(stage === 'ready' ? '\r\x1b[K' : `\r\x1b[KLoading: ${stage}${share}`);
}

/** @param {unknown} error @param {boolean} json */
function reportFailure(error, json) {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'internal';
  if (json) console.log(JSON.stringify({ error: { code, message } }));
  else console.error(message);
  process.exitCode = 1;
}

async function main() {
  const flags = readFlags();
  if (flags.help) return console.log(usage());
  ensurePackages();
  const { ensureBuilt } = await import('./lib/build.mjs');
  const { generateInPage } = await import('./lib/page_run.mjs');
  const { table } = await import('./lib/report.mjs');
  const json = flags.json === true;
  const listener = json
    ? {}
    : { onText: (/** @type {string} */ text) => void process.stdout.write(text), onProgress: showProgress };
  process.stdout.on('error', () => process.exit(1)); // the reader of a pipe left
  try {
    await ensureBuilt();
    const run = await generateInPage(toRequest(flags), listener, stopOnInterrupt);
    console.log(json ? JSON.stringify(run.report) : `\n\n${table(run)}`);
  } catch (error) {
    reportFailure(error, json);
  }
}

const INTERRUPTED = 130;

/** The first Ctrl-C ends the answer in order, a second one ends the program. @param {() => void} stop */
function stopOnInterrupt(stop) {
  process.once('SIGINT', () => {
    process.exitCode = INTERRUPTED;
    stop();
    process.once('SIGINT', () => process.exit(INTERRUPTED));
  });
}

await main();
