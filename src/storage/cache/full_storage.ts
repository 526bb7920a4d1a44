// What a person is told about storage that is full: a part that comes when it is.

import { withTimeout } from '../../shared/with_timeout';
import { listModels } from './cached_models';
import { bytesHere, type FileManifest } from './manifest';
import type { Stores } from './stores';

const MAX_NAMED = 5;

/** The text of the warning for full storage, with its sizes. Leaves out unknown figures. Never throws. */
export async function describeFull(stores: Stores, location: string, files: readonly FileManifest[]) {
  const needed = files.reduce((sum, { size }) => sum + size, 0);
  const here = files.reduce((sum, file) => sum + bytesHere(file), 0);
  const [others, granted] = await Promise.all([otherModels(stores, location), describeQuota()]);
  const named = others.slice(0, MAX_NAMED).map(({ name, bytes }) => `${name} (${megabytes(bytes)})`);
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
  const remedy =
    named.length > 0
      ? `Delete a model that is kept to make room: ${named.join(', ')}${more}.`
      : 'No other model is kept that could be deleted; make room on this device.';
  const message =
    `This browser's storage is full for this site: of the ${megabytes(needed)} that this model needs, ${megabytes(here)} are kept. ` +
    `${granted}The model works, and the rest is fetched again at the next load. ${remedy}`;
  return { message, facts: { requestedBytes: needed, keptBytes: here } };
}

async function otherModels(stores: Stores, location: string): Promise<{ name: string; bytes: number }[]> {
  const models = await listModels(stores).catch(() => []);
  return models.filter((model) => model.location !== location).sort((a, b) => b.bytes - a.bytes);
}

/** The bytes that the site uses and may use. A write can fail far below the quota, since a disk may be full before. */
async function describeQuota(): Promise<string> {
  const estimate = async () => globalThis.navigator?.storage?.estimate?.();
  const { usage, quota } = (await withTimeout(estimate).catch(() => null)) ?? {};
  if (usage === undefined || quota === undefined) return '';
  const disk = usage < quota / 2 ? ', so that the disk itself may be full' : '';
  return `The site uses ${megabytes(usage)} of the ${megabytes(quota)} that it may${disk}. `;
}

function megabytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
