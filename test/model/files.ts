// Files of this machine as a page gets them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a folder as a page gets them when a person drops the folder. */
export function droppedFolder(folder: string): File[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => new File([readFileSync(join(folder, name))], name));
}
