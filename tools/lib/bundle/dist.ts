// Where the build's output lies, and whether it is that of the sources as they are.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../ensure.mjs';

export const DIST = path.join(ROOT, 'dist');
/** The clients that a suite of the bench measures. Only a build with `--tools` has them, as does a run of the suite. */
export const CLIENTS = path.join(DIST, 'bench_clients.js');
const STAMP = path.join(DIST, '.stamp');

/** Everything that the build reads. */
const INPUTS = [
  'src',
  'shaders',
  'bench/page',
  'bench/report.ts',
  'bench/shapes.ts',
  'public',
  'index.html',
  'vite.config.ts',
  'package.json',
  'tools/page',
  'tools/lib/bundle',
  'tsconfig.json',
  'tsconfig.types.json',
  'package-lock.json',
];

/** Every file below a folder, or the file itself, sorted. */
export async function filesBelow(target: string): Promise<string[]> {
  const found = await stat(target).catch(() => null);
  if (!found) return [];
  if (!found.isDirectory()) return [target];
  const entries = await readdir(target, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

/**
 * A hash of the content of every input, so that a dist/ built elsewhere from the same sources is as good as one built
 * here.
 */
export async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  for (const input of INPUTS) {
    for (const file of await filesBelow(path.join(ROOT, input))) {
      const content = await readFile(file);
      hash.update(`${path.relative(ROOT, file).split(path.sep).join('/')}\0${content.length}\n`).update(content);
    }
  }
  return hash.digest('hex');
}

/** Records the sources that dist/ was built from. */
export const writeStamp = (print: string): Promise<void> => writeFile(STAMP, print);

/** Builds unless dist/ is that of the sources already. */
export async function ensureBuilt(): Promise<void> {
  const built = await readFile(STAMP, 'utf8').catch(() => '');
  if (built === (await fingerprint())) return;
  console.error('Building the page ...');
  const { buildAll } = await import('./build');
  await buildAll();
}

/** The same, and the clients that the bench measures. A build removes those of other sources. */
export async function ensureClients(): Promise<void> {
  await ensureBuilt();
  if (existsSync(CLIENTS)) return;
  const { buildClients } = await import('./build');
  await buildClients();
}
