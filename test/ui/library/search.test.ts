// The search over conversations: which letters are the same, what is found and shown, and that no slice is long.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { Summary } from '../../../src/ui/conversation/conversation_index';
import {
  type Found,
  findWords,
  foldTexts,
  hasWords,
  type Part,
  type Searched,
} from '../../../src/ui/library/find_words';
import { fold, placesOf, wordsOf } from '../../../src/ui/library/fold';
import { SearchScan } from '../../../src/ui/library/search_scan';
import { MAX_RESULTS, type ScanState } from '../../../src/ui/library/search_state';

const talk = (id: string, ...turns: [question: string, answer: string][]): Searched => ({
  id,
  turns: turns.map(([question, answer], i) => ({ id: `${id}${i}`, question, answer })),
});

function finish<T>(steps: Generator<void, T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

function find(searched: Searched, title: string, query: string): Found | null {
  const words = wordsOf(query);
  return hasWords(title, finish(foldTexts(searched)), words) ? finish(findWords(searched, title, words)) : null;
}

const marked = (parts: readonly Part[] | undefined) =>
  (parts ?? []).map(({ text, isFound }) => (isFound ? `[${text}]` : text)).join('');

test('case, accents and width do not count, and letters of other scripts stay apart', () => {
  expect(['Müller', 'MÜLLER', 'Mu\u0308ller', 'muller'].map(fold)).toEqual(Array(4).fill('muller'));
  expect(['Straße', 'STRASSE', 'œuvre', 'Łódź', 'ｱﾙﾌｧ', 'ﬁn'].map(fold)).toEqual(
    ['strasse', 'strasse', 'oeuvre', 'lodz', 'アルファ', 'fin'].map((text) => text.normalize('NFKD')),
  );
  expect(fold('Σίσυφος')).toBe(fold('ΣΙΣΥΦΟΣ'));
  expect(fold('がき')).not.toBe(fold('かき'));
  expect(wordsOf('  Éclair eclair  au\nCAFÉ ')).toEqual(['eclair', 'au', 'cafe']);
});

test('places are those of the original letters', () => {
  const at = (text: string, query: string) => placesOf(text, wordsOf(query)).map(([a, b]) => text.slice(a, b));
  expect(at('Crème brûlée, creme', 'creme')).toEqual(['Crème', 'creme']);
  expect(at('Cre\u0301me', 'cre')).toEqual(['Cre\u0301']);
  expect(at('Straßen 🐉 Dragon', 'ss drag')).toEqual(['ß', 'Drag']);
  expect(at('banana', 'ana nan')).toEqual(['anan']);
});

test('all words must be there, in the title or in any turn, and the turn with most of them is shown', () => {
  const dragon = talk(
    'd',
    ['A story', 'Once a cat.'],
    ['And then?', 'The **dragon** met a\n\nbrave Cat in the forest.'],
  );
  expect(find(dragon, 'Bedtime', 'dragon fish')).toBeNull();
  expect(find(dragon, 'Bedtime', '')).toMatchObject({ turn: null });
  const found = find(dragon, 'Bedtime stories', 'bed CAT dragon');
  expect(found?.turn).toBe('d1');
  expect(marked(found?.title)).toBe('[Bed]time stories');
  expect(marked(found?.excerpt)).toBe('The [dragon] met a brave [Cat] in the forest.');
  expect(find(dragon, 'The dragon', 'dragon')).toMatchObject({ turn: null, excerpt: [] });
});

test('an excerpt of a long answer begins shortly before the words', () => {
  const long = talk('l', ['Go', `${'lorem ipsum '.repeat(20_000)}the snow leopard sleeps ${'dolor '.repeat(9_000)}`]);
  const text = marked(find(long, 'T', 'leopard snow')?.excerpt);
  expect(text).toMatch(/^… (\w+ ){1,7}the \[snow\] \[leopard\] sleeps dolor/);
  expect(text.endsWith(' …')).toBe(true);
  expect(text.length).toBeLessThan(170);
});

const summary = (id: string, updatedAt = 1): Summary => ({ id, title: `Talk ${id}`, updatedAt, turns: 1 });

/** Searches with a clock that goes on by a millisecond whenever it is read. */
function scanOf(load: (id: string) => Promise<Searched | null>, onPause = () => {}) {
  let now = 0;
  return new SearchScan(
    load,
    async () => onPause(),
    () => now++,
  );
}

async function run(scan: SearchScan, query: string, summaries: Summary[], signal = new AbortController().signal) {
  const states: ScanState[] = [];
  await scan.run(wordsOf(query), summaries, signal, (state) => states.push(state));
  return states;
}

test('pauses between slices, says how far it is, and reads kept texts once', async () => {
  const ids = Array.from({ length: 40 }, (_, i) => String(i));
  const read: string[] = [];
  let pauses = 0;
  const load = async (id: string) => {
    read.push(id);
    return talk(id, ['Hello', id === '7' ? 'a needle' : 'hay']);
  };
  const scan = scanOf(load, () => pauses++);
  const states = await run(
    scan,
    'needle',
    ids.map((id) => summary(id)),
  );
  expect(pauses).toBeGreaterThan(5);
  expect(states.slice(0, -1).every(({ done, total }) => done < total)).toBe(true);
  expect(states.at(-1)).toMatchObject({ done: 40, total: 40, found: [{ id: '7', turn: '70' }] });
  expect(read).toEqual(ids);
  await run(
    scan,
    'needles',
    ids.map((id) => summary(id, id === '3' ? 2 : 1)),
  );
  expect(read.slice(40)).toEqual(['3']); // the one that has changed
  await run(
    scan,
    'need',
    ids.map((id) => summary(id, id === '3' ? 2 : 1)),
  );
  expect(read.slice(41)).toEqual(['7']); // the one that is shown
  scan.clear();
  await run(scan, 'hay', [summary('1')]);
  expect(read.slice(42)).toEqual(['1']);
});

test('ends when it is aborted, at the limit of results, and passes over what cannot be read', async () => {
  const all = Array.from({ length: 300 }, (_, i) => summary(String(i)));
  const load = async (id: string) => {
    if (id === '1') throw new Error('gone');
    return id === '2' ? null : talk(id, ['x', 'y']);
  };
  const states = await run(scanOf(load), 'y', all);
  expect(states.at(-1)?.found).toHaveLength(MAX_RESULTS);
  expect(
    states
      .at(-1)
      ?.found.slice(0, 2)
      .map(({ id }) => id),
  ).toEqual(['0', '3']);
  const abort = new AbortController();
  const stopped = await run(
    scanOf(load, () => abort.abort()),
    'nowhere',
    all,
    abort.signal,
  );
  expect(stopped).toHaveLength(1);
});

test('holds no conversation that it has searched', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const loaded: WeakRef<Searched>[] = [];
  let held = 0;
  const load = async (id: string) => {
    if (id === '39') {
      await new Promise((resolve) => setImmediate(resolve)); // a job holds what it has looked at
      collectGarbage();
      held = loaded.filter((ref) => ref.deref()).length;
    }
    const searched = talk(id, ['Hello', 'hay']);
    loaded.push(new WeakRef(searched));
    return searched;
  };
  const summaries = Array.from({ length: 40 }, (_, i) => summary(String(i)));
  await run(scanOf(load), 'needle', summaries);
  expect(held).toBeLessThan(20);
});
