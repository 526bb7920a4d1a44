// The list of models: the shipped file, and lists that are broken or hostile.

import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { aboutOf, type Catalogue, storyteller } from '../../../src/ui/catalogue/list/catalogue';
import { readCatalogue } from '../../../src/ui/catalogue/list/catalogue_file';
import { parseCatalogue } from '../../../src/ui/catalogue/list/catalogue_parse';
import { DEFAULT_MODEL } from '../../../src/ui/model/page_options';

const PUBLIC = path.resolve(import.meta.dirname, '../../../public');
const place = { base: 'https://example.com/chat/', hub: 'https://huggingface.co' };
const shipped = readFileSync(path.join(PUBLIC, 'catalogue.json'), 'utf8');

const COMMIT = 'a'.repeat(40);
const entry = {
  id: 'small',
  name: 'Small',
  repository: 'owner/small-GGUF',
  revision: COMMIT,
  file: 'small-q8_0.gguf',
  about: { en: 'Short answers.', de: 'Kurze Antworten.' },
  parameters: 1_000_000,
  downloadBytes: 2_000_000,
  bytesPerToken: 1_900_000,
  layers: 2,
  kvHeads: 3,
  headDim: 64,
  contextLength: 2048,
  license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
  unverified: ['Not run.'],
};
const listOf = (...models: unknown[]) => JSON.stringify({ models });
const parse = (...models: unknown[]): Catalogue => parseCatalogue(listOf(...models), place);
const alone = { models: [storyteller(place)] };

describe('the shipped list', () => {
  const { models, complaints } = parseCatalogue(shipped, place);

  test('is read whole, in every language of the page', () => {
    expect(complaints).toEqual([]);
    expect(models.length).toBeGreaterThanOrEqual(5);
    expect(models.length).toBeLessThanOrEqual(8);
    for (const { about } of models) expect(new Set([about.en, about.de, about.ja]).size).toBe(3);
  });

  test('begins with the storyteller, as the page knows it without a list', () => {
    expect(models[0]).toEqual(storyteller(place));
    expect(storyteller(place).location).toBe(new URL(DEFAULT_MODEL, place.base).href);
    expect(storyteller(place).downloadBytes).toBe(statSync(path.join(PUBLIC, DEFAULT_MODEL)).size);
  });

  test('pins every model to a commit, and says what was not checked', () => {
    for (const model of models.slice(1)) {
      expect([model.id, model.isPinned]).toEqual([model.id, true]);
      expect(model.location).toMatch(/^https:\/\/huggingface\.co\/[^/]+\/[^/]+\/resolve\/[0-9a-f]{40}\/[^/]+\.gguf$/);
      expect(model.unverified.length).toBeGreaterThan(0);
    }
  });

  test('has sizes that fit one another', () => {
    for (const { id, parameters, downloadBytes, bytesPerToken } of models) {
      const bits = (8 * downloadBytes) / parameters;
      expect([id, bits > 4 && bits < 9, bytesPerToken <= downloadBytes]).toEqual([id, true, true]);
    }
  });
});

test('an entry is read with its address, its memory a token and its texts', () => {
  expect(parse(entry)).toMatchObject({
    complaints: [],
    models: [
      {
        id: 'small',
        about: { en: 'Short answers.', de: 'Kurze Antworten.' },
        location: `https://huggingface.co/owner/small-GGUF/resolve/${COMMIT}/small-q8_0.gguf`,
        repository: 'owner/small-GGUF',
        isPinned: true,
        tellsStories: false,
        kv: { layers: 2, heads: 3, headDim: 64, windows: null },
        unverified: ['Not run.'],
      },
    ],
  });
  const [small] = parse(entry).models;
  expect(small && [aboutOf(small, 'de'), aboutOf(small, 'ja')]).toEqual(['Kurze Antworten.', 'Short answers.']);
});

test('a branch is no pin, and an entry of the own server is one', () => {
  expect(parse({ ...entry, revision: 'main' }).models[0]?.isPinned).toBe(false);
  const { repository, revision, file, ...own } = entry;
  expect(parse({ ...own, url: 'm/x.gguf' }).models[0]).toMatchObject({
    location: 'https://example.com/chat/m/x.gguf',
    isPinned: true,
  });
});

test.each([
  ['not JSON', '{"models": ['],
  ['no object', '[]'],
  ['no models', '{"models": {}}'],
  ['an empty list', listOf()],
  ['too many models', listOf(...Array(41).fill(entry))],
  ['too many letters', `${listOf(entry)}${' '.repeat(200_000)}`],
  ['deep nesting', '['.repeat(100_000)],
])('of a list with %s only the storyteller is left, with one sentence', (_, text) => {
  const { models, complaints } = parseCatalogue(text, place);
  expect({ models }).toEqual(alone);
  expect(complaints).toEqual([expect.stringMatching(/^The list of models .*\.$/)]);
});

const { license, about, name } = entry;
test.each([
  ['no object', null, 'it is no object'],
  ['a strange id', { ...entry, id: '../x' }, 'its id'],
  ['no name', { ...entry, name: undefined }, 'its name is no text'],
  ['a long name', { ...entry, name: name.repeat(20) }, 'longer than 60'],
  ['a name that turns the line', { ...entry, name: 'a\u202eb' }, 'invisible'],
  ['a name as a list', { ...entry, name: ['x'] }, 'its name is no text'],
  ['a long text in German', { ...entry, about: { ...about, de: 'x'.repeat(201) } }, 'longer than 200'],
  ['no English text', { ...entry, about: { de: about.de } }, 'its en is no text'],
  ['a server of its own', { ...entry, url: 'https://elsewhere.org/x.gguf' }, 'not on the server'],
  ['an address without a protocol', { ...entry, url: '//elsewhere.org/x.gguf' }, 'not on the server'],
  ['an address that runs', { ...entry, url: 'javascript:alert(1)' }, 'not on the server'],
  ['an address of data', { ...entry, url: 'data:text/plain,x' }, 'not on the server'],
  ['a repository that climbs', { ...entry, repository: '../..' }, 'no model of a hub'],
  ['a repository that is an address', { ...entry, repository: 'https://x.org/a' }, 'no model of a hub'],
  ['a repository with a revision', { ...entry, repository: 'a/b@c' }, 'no model of a hub'],
  ['a file that climbs', { ...entry, file: '../x.gguf' }, 'no model of a hub'],
  ['a file of another kind', { ...entry, file: 'x.exe' }, 'no model of a hub'],
  ['no revision', { ...entry, revision: undefined }, 'its revision is no text'],
  ['a size below nothing', { ...entry, downloadBytes: -1 }, 'its downloadBytes'],
  ['an endless size', { ...entry, downloadBytes: 1e300 }, 'its downloadBytes'],
  ['half a layer', { ...entry, layers: 1.5 }, 'its layers'],
  ['heads in words', { ...entry, kvHeads: '8' }, 'its kvHeads'],
  ['a license that runs', { ...entry, license: { ...license, url: 'javascript:alert(1)' } }, 'license'],
  ['a license over http', { ...entry, license: { ...license, url: 'http://x.org' } }, 'license'],
  ['no license', { ...entry, license: undefined }, 'it is no object'],
  ['notes without end', { ...entry, unverified: Array(13).fill('x') }, 'no short list'],
  ['the same address again', { ...entry, id: 'twin' }, 'it is Small again'],
  ['the same id again', { ...entry, file: 'other.gguf' }, 'it is Small again'],
])('an entry with %s is left out with a sentence, the others stay', (_, broken, why) => {
  const { models, complaints } = parse(entry, broken);
  expect(models.map(({ id }) => id)).toEqual(['small']);
  expect(complaints).toEqual([expect.stringContaining('Model 2 of the list is left out: ')]);
  expect(complaints[0]).toContain(why);
});

test('a list of broken entries leaves the storyteller, and a few sentences', () => {
  const { models, complaints } = parse(...Array(40).fill({}));
  expect({ models }).toEqual(alone);
  expect(complaints).toHaveLength(5);
});

describe('the file beside the page', () => {
  const serving = (answer: () => Response) => (async () => answer()) as typeof fetch;

  test('is asked for below the page, without following it elsewhere', async () => {
    const asked: unknown[] = [];
    const get = (async (...call: unknown[]) => {
      asked.push(...call);
      return new Response(listOf(entry));
    }) as typeof fetch;
    expect((await readCatalogue(place, get)).models.map(({ id }) => id)).toEqual(['small']);
    expect(String(asked[0])).toBe('https://example.com/chat/catalogue.json');
    expect(asked[1]).toMatchObject({ redirect: 'error' });
  });

  test.each([
    ['missing', () => new Response('', { status: 404 })],
    ['unreachable', () => Promise.reject(new TypeError()) as never],
    ['a web page', () => new Response('<!doctype html>')],
  ])('%s: the storyteller alone, and one sentence', async (_, answer) => {
    const { models, complaints } = await readCatalogue(place, serving(answer));
    expect({ models }).toEqual(alone);
    expect(complaints).toHaveLength(1);
  });

  test('is read no further than a list can be long', async () => {
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent++;
        controller.enqueue(new Uint8Array(65_536).fill(32));
      },
    });
    const { complaints } = await readCatalogue(
      place,
      serving(() => new Response(endless)),
    );
    expect(complaints).toEqual(['The list of models is too long to be read.']);
    expect(sent).toBeLessThan(8);
  });
});
