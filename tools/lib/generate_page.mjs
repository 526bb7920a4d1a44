// Runs inside the page that `generate` opens: one load, one answer. The main thread only listens, since the worker keeps
// the time beside it: text for the terminal leaves in batches, and not at all when nobody watches.

import { asciiJson } from './ascii_json.mjs';

/**
 * @typedef {import('./page_run.mjs').Request} Request
 * @typedef {object} Bridge what page_run.mjs puts into the page and calls there
 * @property {(json: string) => void} vivaceTell
 * @property {AbortController} vivaceStop
 * @property {(requestJson: string) => Promise<string>} vivaceRun
 */

const ENGINE = '/lib/vivace.js';
const BATCH_MS = 30;

const bridge = /** @type {typeof globalThis & Bridge} */ (globalThis);
bridge.vivaceStop = new AbortController();
bridge.vivaceRun = async (requestJson) => {
  /** @type {Request} */
  const request = JSON.parse(requestJson);
  const tell = request.streams ? new Teller() : null;
  try {
    return asciiJson({ run: await run(request, tell) });
  } catch (error) {
    return asciiJson({ failure: describe(error) });
  } finally {
    tell?.flush();
  }
};

/** Passes text and progress to the terminal. */
class Teller {
  pending = '';
  timer = 0;

  /** @param {string} text */
  text(text) {
    this.pending += text;
    this.timer ||= Number(setTimeout(() => this.flush(), BATCH_MS));
  }

  /** @param {import('../../src/engine/engine').LoadProgress} progress */
  progress(progress) {
    bridge.vivaceTell(asciiJson({ progress }));
  }

  flush() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.pending !== '') bridge.vivaceTell(asciiJson({ text: this.pending }));
    this.pending = '';
  }
}

/** @param {Request} request @param {Teller | null} tell */
async function run(request, tell) {
  /** @type {typeof import('../../src/engine/engine')} */
  const { Engine, runReport } = await import(ENGINE);
  const { signal } = bridge.vivaceStop;
  const engine = await Engine.load(request.model, {
    ...request.load,
    cache: false, // each run has a browser of its own
    signal,
    onProgress: (progress) => tell?.progress(progress),
  });
  const { info } = engine;
  const options = { ...request.options, signal };
  const asChat = request.chat ?? info.hasChatTemplate;
  const events = asChat
    ? engine.chat([{ role: 'user', content: request.prompt }], options)
    : engine.complete(request.prompt, options);
  const warnings = [];
  const ids = [];
  let text = '';
  for await (const event of events) {
    if (event.type === 'warning') warnings.push(event);
    if (event.type === 'token') ids.push(event.id);
    if (event.type === 'token' || event.type === 'done') {
      text += event.text;
      tell?.text(event.text);
    }
    if (event.type === 'done') {
      await engine.unload();
      return { info, done: event, report: runReport({ info, warnings, ids, text, done: event }) };
    }
  }
  throw new Error('The engine ended without saying why.');
}

/** @param {unknown} error */
function describe(error) {
  const { name, message, code } = /** @type {Error & { code?: unknown }} */ (error);
  return { code: typeof code === 'string' ? code : name === 'AbortError' ? 'abort' : 'internal', message };
}
