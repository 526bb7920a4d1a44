// The list of cached models, and their deletion.

import {
  bytesHere,
  type FileManifest,
  fileKey,
  isEnough,
  type ModelManifest,
  modelKey,
  parseFile,
  parseModel,
} from './manifest';
import type { Stores } from './stores';

export interface CachedModel {
  /** The model's address as given to the engine. */
  location: string;
  name: string;
  /** Bytes stored. */
  bytes: number;
  /** Bytes of the whole model, or null while some files are unknown. */
  totalBytes: number | null;
  /** True when the model loads without a network. */
  isComplete: boolean;
  /** Milliseconds since 1970. */
  usedAt: number;
}

interface Known {
  models: ModelManifest[];
  files: Map<string, FileManifest>;
  /** Keys of values that are unreadable or belong to no model. */
  strays: unknown[];
}

/** Models with at least one stored piece, the most recently used first. */
export async function listModels({ manifests }: Stores): Promise<CachedModel[]> {
  const { models, files } = sortOut(await manifests.entries());
  return models
    .map((model) => describe(model, files))
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => b.usedAt - a.usedAt);
}

function describe(
  { location, name, files: urls, isOpened, usedAt }: ModelManifest,
  known: Known['files'],
): CachedModel {
  const files = urls.map((url) => known.get(url) ?? null);
  const isKnown = isOpened && files.every((file) => file !== null);
  const due = (file: FileManifest) => (isEnough(file) ? bytesHere(file) : file.size);
  return {
    location,
    name,
    bytes: files.reduce((sum, file) => sum + (file ? bytesHere(file) : 0), 0),
    totalBytes: isKnown ? files.reduce((sum, file) => sum + (file ? due(file) : 0), 0) : null,
    isComplete: isKnown && files.every((file) => file !== null && isEnough(file)),
    usedAt,
  };
}

/** True while the model at an address is kept, at least in part. */
export async function isModelKept({ manifests }: Stores, location: string): Promise<boolean> {
  return parseModel(location, await manifests.get(modelKey(location))) !== null;
}

/** Age after which an unnamed piece is a stray. Younger ones may belong to a load in another tab. */
const STRAY_MS = 60 * 60 * 1000;

/** Deletes a model and everything that no other model shares: manifests first, then pieces. */
export function deleteModel({ manifests, pieces }: Stores, location: string): Promise<void> {
  return manifests.alone(async () => {
    const before = sortOut(await manifests.entries());
    const models = before.models.filter((model) => model.location !== location);
    const shared = new Set(models.flatMap((model) => model.files));
    const gone = [...before.files.values()].filter(({ url }) => !shared.has(url));
    await manifests.remove([modelKey(location), ...gone.map(({ url }) => fileKey(url)), ...before.strays]);
    const named = (files: FileManifest[]) => new Set(files.flatMap(({ hashes }) => hashes));
    const kept = named([...before.files.values()].filter(({ url }) => shared.has(url)));
    const deleted = named(gone);
    for (const { name, writtenAt } of await pieces.list()) {
      if (kept.has(name)) continue;
      if (deleted.has(name) || Date.now() - writtenAt > STRAY_MS) await pieces.remove(name);
    }
  });
}

/**
 * Deletes those of the pieces `names` that no file names and that are not in `wanted`, a set that may grow meanwhile.
 */
export function removeUnnamed(
  { manifests, pieces }: Stores,
  names: ReadonlySet<string>,
  wanted: ReadonlySet<string>,
): Promise<void> {
  return manifests.alone(async () => {
    const { files } = sortOut(await manifests.entries());
    const kept = new Set([...files.values()].flatMap(({ hashes }) => hashes));
    for (const name of names) if (!kept.has(name) && !wanted.has(name)) await pieces.remove(name);
  });
}

/** Deletes files that no model names any more, and their pieces. */
export function removeOutdated({ manifests, pieces }: Stores, urls: readonly string[]): Promise<void> {
  return manifests.alone(async () => {
    const { models, files } = sortOut(await manifests.entries());
    const named = new Set(models.flatMap((model) => model.files));
    const gone = urls.flatMap((url) => (named.has(url) ? [] : (files.get(url) ?? [])));
    await manifests.remove(gone.map(({ url }) => fileKey(url)));
    for (const { url } of gone) files.delete(url);
    const kept = new Set([...files.values()].flatMap(({ hashes }) => hashes));
    for (const name of new Set(gone.flatMap(({ hashes }) => hashes))) {
      if (name !== null && !kept.has(name)) await pieces.remove(name);
    }
  });
}

function sortOut(entries: [key: unknown, value: unknown][]): Known {
  const known: Known = { models: [], files: new Map(), strays: [] };
  for (const [key, value] of entries) {
    const [, kind, id] = /^(file|model) (.*)$/s.exec(String(key)) ?? [];
    const file = kind === 'file' ? parseFile(id, value) : null;
    const model = kind === 'model' ? parseModel(id, value) : null;
    if (file) known.files.set(id, file);
    else if (model) known.models.push(model);
    else known.strays.push(key);
  }
  return known;
}
