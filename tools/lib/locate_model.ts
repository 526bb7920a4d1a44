// Where a page finds the model that a person named on the command line.

import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { RunError } from './browser/blank_page';
import { DIST } from './bundle/dist';

const STORYTELLER = path.join(DIST, 'models/storyteller');
const MOUNT = '/local-model/';

/** The file that a folder stands for: its one GGUF file or the first part of it, unless there are safetensors, too. */
function modelInFolder(folder: string) {
  const files = readdirSync(folder).sort();
  const gguf = files.filter((file) => file.endsWith('.gguf'));
  const models = new Set(gguf.map((file) => file.replace(/-\d{5}(-of-\d{5}\.gguf)$/, '$1')));
  const only = models.size === 1 && !files.some((file) => file.endsWith('.safetensors'));
  return only ? encodeURIComponent(gguf[0] ?? '') : '';
}

/** `hf:owner/repo` and what may follow; without `hf:` only where it cannot be a path, or nothing lies there. */
const HUB_ID = /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*(?:@[\w./-]+)?(?:\/.+\.gguf|:[\w-]+)?$/i;

/** @returns the id with `hf:` in front */
function hubId(model: string | undefined): string | null {
  if (model === undefined || /^hf:/i.test(model)) return model ?? null; // what is wrong with it the engine says
  if (!HUB_ID.test(model)) return null;
  return existsSync(path.resolve(model)) ? null : `hf:${model}`;
}

/**
 * Where the page finds the model, and what must be served for that.
 * @param model as typed: a folder, a file, a URL, a repository of a hub, or nothing
 */
export function locateModel(model: string | undefined): { url: string; mounts: Record<string, string> } {
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
