// Writes what the package's entries declare, for clients that have no sources. Checking them is the tests' work.

import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { DIST, filesBelow } from './dist';
import { ROOT } from './ensure.mjs';

/** A name of another file of the package, without the ending that Node's way of finding modules asks for. */
const RELATIVE = /(\bfrom |\bimport\(|\bimport )(['"])(\.{1,2}\/[^'"]*?)(?:\.js)?\2/g;

export async function declareTypes(): Promise<void> {
  const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [compiler, '-p', path.join(ROOT, 'tsconfig.types.json')]);
  for (const file of await filesBelow(path.join(DIST, 'lib/types'))) {
    const text = await readFile(file, 'utf8');
    const named = text.replace(RELATIVE, '$1$2$3.js$2');
    if (named !== text) await writeFile(file, named);
  }
}
