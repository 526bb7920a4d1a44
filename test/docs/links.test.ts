// Every relative link of the docs leads somewhere, and every file that they name is there.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../../tools/lib/ensure.mjs';
import { anchorsOf, FILES, inlineCodeOf, linksOf, ROOMS, read } from './markdown';

const isAddress = (target: string) => /^[a-z]+:/.test(target);

function isThere(from: string, target: string): boolean {
  const [name, anchor] = target.split('#');
  const file = name === '' ? from : path.posix.join(path.posix.dirname(from), name);
  if (!existsSync(path.join(ROOT, file))) return false;
  return anchor === undefined || (file.endsWith('.md') && anchorsOf(read(file)).has(anchor));
}

test.each([...FILES, ...ROOMS])('the links of %s', (file) => {
  const targets = linksOf(read(file)).filter((target) => !isAddress(target));
  expect(targets.filter((target) => !isThere(file, target))).toEqual([]);
});

/** Paths from the root. Those with a stem of the reader's (`<stem>`) or a star are none. */
const PATH = /^(src|test|tools|bench|docs|shaders|examples|deploy|public|\.github)\/[\w./-]+$/;

test.each([...FILES, ...ROOMS])('the files that %s names', (file) => {
  const names = inlineCodeOf(read(file)).filter((code) => PATH.test(code));
  expect(names.filter((name) => !existsSync(path.join(ROOT, name)))).toEqual([]);
});
