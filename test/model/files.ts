// Files of this machine as a page gets them.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';

/** The files of a folder and of those in it, with their paths, as a page gets them from a file chooser. */
export function chosenFolder(folder: string): File[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => {
      const file = new File([readFileSync(join(parentPath, name))], name);
      const path = join(basename(folder), relative(folder, parentPath), name);
      return Object.defineProperty(file, 'webkitRelativePath', { value: path });
    });
}

/** The files of a folder as a page gets them when a person drops the folder. */
export function droppedFolder(folder: string): File[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => new File([readFileSync(join(folder, name))], name));
}
