// Rules for every file and folder of the code: an opening line, comments of at most 120 columns, a README in each
// room, and a reference that says what the types say.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { API_PAGE, apiPage } from '../tools/docs/api_page';

const ROOT = path.resolve(import.meta.dirname, '..');
const COLUMNS = 120;
/** Rooms of Python, with READMEs and a style of their own. */
const PYTHON = ['tools/train_storyteller', 'tools/make_fixtures'];

/** Every file of the code below a folder, as a path from the root. */
function filesOf(room: string): string[] {
  return readdirSync(path.join(ROOT, room), { recursive: true, encoding: 'utf8' })
    .map((file) => `${room}/${file.split(path.sep).join('/')}`)
    .filter((file) => /\.(ts|mjs|wgsl)$/.test(file) && !PYTHON.some((python) => file.startsWith(`${python}/`)))
    .sort();
}

const files = ['src', 'shaders', 'tools', 'bench'].flatMap(filesOf);
const linesOf = (file: string): string[] => readFileSync(path.join(ROOT, file), 'utf8').split('\n');

test('every file opens with a comment', () => {
  expect(files.filter((file) => !/^(\/\/|\/\*)/.test(linesOf(file)[0] ?? ''))).toEqual([]);
});

test('comments keep within the width of the formatter', () => {
  const isComment = (line: string) => /^\s*(\/\/|\*|\/\*)/.test(line) || /\s\/\/\s/.test(line);
  const long = files.flatMap((file) =>
    linesOf(file).flatMap((line, i) => (line.length > COLUMNS && isComment(line) ? [`${file}:${i + 1}`] : [])),
  );
  expect(long).toEqual([]);
});

test('every folder of src, tools and bench, and every room of shaders, says in a README what it is', () => {
  const isPart = (folder: string) => folder.startsWith('shaders/') && folder.split('/').length > 2;
  const folders = [...new Set(files.map((file) => path.dirname(file)))].filter((f) => f !== 'src' && !isPart(f));
  expect(folders.filter((folder) => !existsSync(path.join(ROOT, folder, 'README.md')))).toEqual([]);
});

test('docs/api.md is what `npm run docs` writes', () => {
  expect(readFileSync(API_PAGE, 'utf8')).toBe(apiPage());
});
