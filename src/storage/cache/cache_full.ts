// What a person is told when the browser's storage has no room for a model: how much it needs, and what could go.

import { listModels } from './cached_models';
import { bytesHere, type FileManifest } from './manifest';
import { soon } from './manifest_store';
import type { Stores } from './stores';

const MAX_NAMED = 5;

/** A sentence or more. Never throws: what is not known is left out. */
export async function describeFull(stores: Stores, location: string, files: readonly FileManifest[]): Promise<string> {
  const needed = files.reduce((sum, { size }) => sum + size, 0);
  const here = files.reduce((sum, file) => sum + bytesHere(file), 0);
  const [others, free] = await Promise.all([otherModels(stores, location), freeBytes()]);
  const room = free === null ? '' : ` and ${megabytes(free)} are free`;
  const named = others.slice(0, MAX_NAMED).map(({ name, bytes }) => `${name} (${megabytes(bytes)})`);
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
  const remedy =
    named.length > 0
      ? `Delete a model that is kept to make room: ${named.join(', ')}${more}.`
      : 'No other model is kept that could be deleted; make room on this device.';
  return (
    `This browser's storage is full: of the ${megabytes(needed)} that this model needs, ${megabytes(here)} are kept${room}. ` +
    `It works, and the rest is fetched again at the next load. ${remedy}`
  );
}

async function otherModels(stores: Stores, location: string): Promise<{ name: string; bytes: number }[]> {
  const models = await soon(() => listModels(stores)).catch(() => []);
  return models.filter((model) => model.location !== location).sort((a, b) => b.bytes - a.bytes);
}

/** What the browser thinks that this site may still keep. */
async function freeBytes(): Promise<number | null> {
  const estimate = async () => globalThis.navigator?.storage?.estimate?.();
  const { usage, quota } = (await estimate().catch(() => null)) ?? {};
  return usage === undefined || quota === undefined ? null : Math.max(0, quota - usage);
}

function megabytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
