// Runs one generation in headless Chromium: serves the built engine and a local model, listens, and hands back what came.
// generate_page.mjs is the other end.

import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { RunError, runInPage } from './blank_page.mjs';
import { DIST } from './build.mjs';

/**
 * @typedef {import('../../src/engine/engine').EngineLoadOptions} LoadOptions
 * @typedef {import('../../src/engine/engine').EngineGenerateOptions} GenerateOptions
 * @typedef {object} Request
 * @property {string} model URL as the page sees it
 * @property {string} prompt
 * @property {boolean | null} chat null: as the model has a template or not
 * @property {Omit<LoadOptions, 'onProgress' | 'signal'>} load
 * @property {Omit<GenerateOptions, 'signal'>} options
 * @property {boolean} [streams] tell text and progress while they come
 * @typedef {import('./report.mjs').Run} Run
 * @typedef {import('../../src/engine/protocol').LoadProgress} LoadProgress
 * @typedef {object} Listener what the terminal shows while the page works
 * @property {(text: string) => void} [onText]
 * @property {(progress: LoadProgress) => void} [onProgress]
 */

const STORYTELLER = path.join(DIST, 'models/storyteller');
const MOUNT = '/local-model/';

/** A folder that holds one GGUF file, or the parts of one, and no safetensors means that file. @param {string} folder */
function modelInFolder(folder) {
  const files = readdirSync(folder).sort();
  const gguf = files.filter((file) => file.endsWith('.gguf'));
  const models = new Set(gguf.map((file) => file.replace(/-\d{5}(-of-\d{5}\.gguf)$/, '$1')));
  const only = models.size === 1 && !files.some((file) => file.endsWith('.safetensors'));
  return only ? encodeURIComponent(gguf[0] ?? '') : '';
}

/** `hf:owner/repo` and what may follow; without `hf:` only where it cannot be a path, or nothing lies there. */
const HUB_ID = /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*(?:@[\w./-]+)?(?:\/.+\.gguf|:[\w-]+)?$/i;

/** @param {string | undefined} model @returns {string | null} the id with `hf:` in front */
function hubId(model) {
  if (model === undefined || /^hf:/i.test(model)) return model ?? null; // what is wrong with it the engine says
  if (!HUB_ID.test(model)) return null;
  return existsSync(path.resolve(model)) ? null : `hf:${model}`;
}

/**
 * Where the page finds the model, and what must be served for that.
 * @param {string | undefined} model as typed: a folder, a file, a URL, a repository of a hub, or nothing
 * @returns {{ url: string, mounts: Record<string, string> }}
 */
export function locateModel(model) {
  if (model !== undefined && /^https?:\/\//i.test(model)) return { url: model, mounts: {} };
  const id = hubId(model);
  if (id) return { url: id, mounts: {} };
  const target = path.resolve(model ?? STORYTELLER);
  if (!existsSync(target)) {
    throw new RunError({
      code: 'model-fetch',
      message: `No such file or folder: ${target}. Check --model; a repository of a hub is owner/repo.`,
    });
  }
  const route = MOUNT + path.basename(target); // its name is the model's name
  const url = MOUNT + encodeURIComponent(path.basename(target));
  if (statSync(target).isDirectory())
    return { url: `${url}/${modelInFolder(target)}`, mounts: { [`${route}/`]: target } };
  return { url, mounts: { [route]: target } };
}

/**
 * @param {Omit<Request, 'model' | 'streams'> & { model: string | undefined }} request `model` as typed on the command line
 * @param {Listener} listener
 * @param {(stop: () => void) => void} [onStoppable] gets a function that ends the answer early
 * @returns {Promise<Run>}
 */
export async function generateInPage(request, listener, onStoppable) {
  const { url, mounts } = locateModel(request.model);
  const { answer } = await runInPage({
    script: '/generate_page.mjs',
    mounts: {
      '/lib/': path.join(DIST, 'lib'),
      '/generate_page.mjs': path.join(import.meta.dirname, 'generate_page.mjs'),
      '/ascii_json.mjs': path.join(import.meta.dirname, 'ascii_json.mjs'),
      ...mounts,
    },
    request: { ...request, model: url, streams: Boolean(listener.onText) },
    onTold(said) {
      if (said.text !== undefined) listener.onText?.(said.text);
      if (said.progress !== undefined) listener.onProgress?.(said.progress);
    },
    onStoppable,
  });
  return answer.run;
}
