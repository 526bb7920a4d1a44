// What the page has in one file: the modules that its entry reaches at once.

import { expect, test } from 'vitest';
import { coreFile, firstFile } from '../../../tools/lib/bundle/first_file';

/** A graph by the static importers of each module. 'page' is its entry. */
function graphOf(importers: Record<string, readonly string[]>) {
  return {
    getModuleInfo: (id: string) =>
      id in importers ? { isEntry: id === 'page', importers: importers[id] ?? [] } : null,
  };
}

test('modules that come at once are in the first file, the scripts of the page and late parts are not', () => {
  const graph = graphOf({
    page: [],
    script: ['page'],
    chat: ['script'],
    shared: ['late', 'chat'],
    late: [], // by a dynamic import alone
    dialog: ['late'],
    round: ['trip', 'chat'],
    trip: ['round'],
  });
  const { name } = firstFile();
  const first = ['page', 'script', 'chat', 'shared', 'late', 'dialog', 'round', 'trip', 'unknown'].filter(
    (id) => name(id, graph) === 'first',
  );
  expect(first).toEqual(['chat', 'shared', 'round', 'trip']);
});

test('the core of the worker has what comes at once, and what is too small for a part of its own', () => {
  const importers: Record<string, string[]> = { entry: [], at_once: ['entry'], one: [], two: [] };
  const sizes: Record<string, number> = { crumb: 399, loaf: 400, slice: 10 };
  Object.assign(importers, { crumb: ['one', 'two'], loaf: ['one', 'two'], slice: ['one'] });
  const getModuleInfo = (id: string) => ({
    isEntry: id === 'entry',
    importers: importers[id] ?? [],
    code: ' '.repeat(sizes[id] ?? 1000),
  });
  const { name } = coreFile();
  const core = Object.keys(importers).filter((id) => name(id, { getModuleInfo }) === 'core');
  expect(core).toEqual(['entry', 'at_once', 'crumb']);
});
