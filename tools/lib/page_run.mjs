// Runs one generation in headless Chromium: serves the built engine and a local model, listens, and hands back what came.
// Text goes into and out of the page as ASCII JSON, so that any string survives, lone surrogates too.

import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { DIST } from './build.mjs';
import { launchChromium } from './chromium.mjs';
import { serve } from './serve.mjs';

/**
 * @typedef {import('../../src/engine/engine').EngineLoadOptions} LoadOptions
 * @typedef {import('../../src/engine/engine').EngineGenerateOptions} GenerateOptions
 * @typedef {object} Request
 * @property {string} model URL as the page sees it
 * @property {string} prompt
 * @property {boolean | null} chat null: as the model has a template or not
 * @property {Omit<LoadOptions, 'onProgress' | 'signal'>} load
 * @property {Omit<GenerateOptions, 'signal'>} options
 * @typedef {import('./report.mjs').Run} Run
 * @typedef {import('../../src/engine/protocol').LoadProgress} LoadProgress
 * @typedef {object} Listener what the terminal shows while the page works
 * @property {(text: string) => void} [onText]
 * @property {(progress: LoadProgress) => void} [onProgress]
 * @typedef {{ code: string, message: string }} Failure
 */

/** A run that ended in an error: the typed error's code and sentence. */
export class RunError extends Error {
  /** @param {Failure} failure */
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

const STORYTELLER = path.join(DIST, 'models/storyteller');
const MOUNT = '/local-model/';

/** A folder that holds one GGUF file and no safetensors means that file. @param {string} folder */
function modelInFolder(folder) {
  const files = readdirSync(folder);
  const gguf = files.filter((file) => file.endsWith('.gguf'));
  const only = gguf.length === 1 && !files.some((file) => file.endsWith('.safetensors'));
  return only ? encodeURIComponent(gguf[0] ?? '') : '';
}

/**
 * Where the page finds the model, and what must be served for that.
 * @param {string | undefined} model as typed: a folder, a file, a URL, or nothing
 * @returns {{ url: string, mounts: Record<string, string> }}
 */
export function locateModel(model) {
  if (model !== undefined && /^https?:\/\//i.test(model)) return { url: model, mounts: {} };
  const target = path.resolve(model ?? STORYTELLER);
  if (!existsSync(target)) {
    throw new RunError({ code: 'model-fetch', message: `No such file or folder: ${target}. Check --model.` });
  }
  if (statSync(target).isDirectory()) return { url: MOUNT + modelInFolder(target), mounts: { [MOUNT]: target } };
  const route = MOUNT + path.basename(target);
  return { url: MOUNT + encodeURIComponent(path.basename(target)), mounts: { [route]: target } };
}

/** JSON in ASCII, so that no step between here and there has a chance to mend a lone surrogate. @param {unknown} value */
function asciiJson(value) {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Runs inside the page. It keeps the main thread free of everything but listening: text for the terminal leaves in batches.
 * @param {{ requestJson: string, streams: boolean }} argument
 */
async function runInPage({ requestJson, streams }) {
  const BATCH_MS = 30;
  /** @type {(value: unknown) => string} */
  const encode = (value) =>
    JSON.stringify(value).replace(
      /[\u007f-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  const page = /** @type {typeof globalThis & { vivaceTell: (json: string) => void, vivaceStop: AbortController }} */ (
    globalThis
  );
  let pending = '';
  let timer = 0;
  const flush = () => {
    clearTimeout(timer);
    timer = 0;
    if (pending !== '') page.vivaceTell(encode({ text: pending }));
    pending = '';
  };
  /** @param {string} text */
  const tellText = (text) => {
    if (!streams) return;
    pending += text;
    timer ||= Number(setTimeout(flush, BATCH_MS));
  };
  try {
    /** @type {Request} */
    const request = JSON.parse(requestJson);
    const source = '/lib/vivace.js';
    /** @type {typeof import('../../src/engine/engine')} */
    const { Engine } = await import(source);
    page.vivaceStop = new AbortController();
    const { signal } = page.vivaceStop;
    const engine = await Engine.load(new URL(request.model, location.href).href, {
      ...request.load,
      signal,
      onProgress: (progress) => streams && page.vivaceTell(encode({ progress })),
    });
    const { info } = engine;
    const options = { ...request.options, signal };
    const events =
      (request.chat ?? info.hasChatTemplate)
        ? engine.chat([{ role: 'user', content: request.prompt }], options)
        : engine.complete(request.prompt, options);
    const run = { info, warnings: /** @type {unknown[]} */ ([]), ids: /** @type {number[]} */ ([]), text: '' };
    for await (const event of events) {
      if (event.type === 'warning') run.warnings.push({ code: event.code, message: event.message });
      if (event.type === 'token') run.ids.push(event.id);
      if (event.type === 'token' || event.type === 'done') {
        run.text += event.text;
        tellText(event.text);
      }
      if (event.type === 'done') {
        flush();
        await engine.unload();
        return encode({ run: { ...run, done: event } });
      }
    }
    return encode({ failure: { code: 'internal', message: 'The engine ended without saying why.' } });
  } catch (error) {
    flush();
    const { name, message, code } = /** @type {Error & { code?: unknown }} */ (error);
    const known = typeof code === 'string' ? code : name === 'AbortError' ? 'abort' : 'internal';
    return encode({ failure: { code: known, message } });
  }
}

/**
 * @param {Omit<Request, 'model'> & { model: string | undefined }} request `model` as typed on the command line
 * @param {Listener} listener
 * @param {(stop: () => void) => void} [onStoppable] gets a function that ends the answer early
 * @returns {Promise<Run>}
 */
export async function generateInPage(request, listener, onStoppable) {
  const { url, mounts } = locateModel(request.model);
  const server = await serve({
    mounts: { '/lib/': path.join(DIST, 'lib'), ...mounts },
    handlers: {
      '/': (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
        response.end('<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Vivace</title>');
      },
    },
  });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    const streams = Boolean(listener.onText);
    await page.exposeFunction('vivaceTell', (/** @type {string} */ json) => {
      const said = JSON.parse(json);
      if (said.text !== undefined) listener.onText?.(said.text);
      if (said.progress !== undefined) listener.onProgress?.(said.progress);
    });
    await page.goto(server.url);
    onStoppable?.(() => {
      page.evaluate('globalThis.vivaceStop?.abort()').catch(() => {}); // the page may be gone already
    });
    const answer = await page.evaluate(runInPage, { requestJson: asciiJson({ ...request, model: url }), streams });
    const { run, failure } = JSON.parse(answer);
    if (failure) throw new RunError(failure);
    return run;
  } finally {
    await browser.close();
    await server.close();
  }
}
