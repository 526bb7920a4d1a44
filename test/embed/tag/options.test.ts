// The script tag's attributes as options and complaints.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readEmbedServer } from '../../../src/embed/server/server_part';
import { readEmbedOptions } from '../../../src/embed/tag/options';
import { STANDARD_LOAD } from '../../../src/ui/settings/settings_fields';

const SCRIPT = 'https://cdn.example.com/vivace/embed.js';
const PAGE = 'https://shop.example.com/help/';

test('a bare tag brings the storyteller that lies beside the script', () => {
  expect(readEmbedOptions({}, SCRIPT, PAGE)).toEqual({
    options: {
      model: 'https://cdn.example.com/vivace/models/storyteller/storyteller-q8_0.gguf',
      sha256: undefined,
      load: STANDARD_LOAD,
      title: 'Vivace',
      lang: null,
      theme: 'auto',
      position: null,
      system: '',
      welcome: '',
      placeholder: '',
      footer: '',
      icon: undefined,
      settings: 'sampling',
      figures: false,
      examples: [],
      thinking: 'on',
      remember: null,
      server: null,
      panel: false,
      worker: undefined,
      open: false,
    },
    complaints: [],
  });
});

test('load settings whose names have several words are attributes, too', () => {
  const { options, complaints } = readEmbedOptions(
    { kvBudget: '0', maxConcurrent: '1', keepPrompts: 'some' },
    SCRIPT,
    PAGE,
  );
  expect(options.load).toMatchObject({ kvBudgetBytes: 0, maxConcurrent: 1, keepPrompts: 'system' });
  expect(complaints).toEqual(['data-keep-prompts="some" is none of system, all or none; it is left out.']);
});

test('a model and a worker are found from the page', () => {
  const data = {
    model: '../m.gguf',
    sha256: 'ab',
    worker: '/vivace_worker.js',
    position: 'bottom-left',
    theme: 'dark',
    panel: '',
    open: 'false',
    examples: ' a | |b ',
    thinking: 'off',
    lang: 'de-AT',
  };
  const { options, complaints } = readEmbedOptions(data, SCRIPT, PAGE);
  expect(options).toMatchObject({
    model: 'https://shop.example.com/m.gguf',
    sha256: 'ab', // the engine says what is wrong with it: a hash that is left out would be no hash at all
    worker: 'https://shop.example.com/vivace_worker.js',
    position: 'bottom-left',
    theme: 'dark',
    panel: true,
    open: false,
    examples: ['a', 'b'],
    thinking: 'off',
    lang: 'de-AT',
  });
  expect(complaints).toEqual([]);
});

test('what is not understood falls back to the usual, with a sentence that names the choices', () => {
  const data = {
    theme: 'pink',
    position: 'top',
    lang: 'fr',
    thinking: 'hard',
    panel: 'on',
    model: 'javascript:alert(1)',
    worker: 'http://[',
  };
  const { options, complaints } = readEmbedOptions(data, SCRIPT, PAGE);
  expect(options).toMatchObject({
    theme: 'auto',
    position: null,
    lang: null,
    thinking: 'on',
    panel: true,
    worker: undefined,
  });
  expect(options.model).toContain('storyteller');
  expect(complaints).toHaveLength(7);
  expect(complaints.join('\n')).toMatch(/pink.*auto, light, dark/);
  expect(complaints.join('\n')).toMatch(/top.*bottom-right, bottom-left, none/);
});

test.each([
  ['chrome-extension://abc/panel.html', 'a/m.gguf', 'chrome-extension://abc/a/m.gguf'],
  ['app://vivace/index.html', 'https://example.com/m.gguf', 'https://example.com/m.gguf'],
  ['app://vivace/index.html', 'chrome-extension://abc/m.gguf', null],
  ['file:///home/index.html', 'm.gguf', null],
])('on the page %s the model %s is %s', (page, model, location) => {
  const { options, complaints } = readEmbedOptions({ model, worker: model }, SCRIPT, page);
  expect([options.model, options.worker]).toEqual(
    location ? [location, location] : [expect.stringContaining('storyteller'), undefined],
  );
  expect(complaints).toHaveLength(location ? 0 : 2);
});

test.each(['', '   '])('data-model="%s" names no model, and is not the page itself', (model) => {
  const { options, complaints } = readEmbedOptions({ model }, SCRIPT, PAGE);
  expect(options.model).toContain('storyteller');
  expect(complaints).toEqual([
    `model="${model}" is no repository (owner/repo) and no address of a .gguf file; it is left out.`,
  ]);
});

test('a tag shares its engine with other tabs where it says so, and nowhere else', () => {
  const share = (data: DOMStringMap) => readEmbedOptions(data, SCRIPT, PAGE);
  expect(share({}).options.share).toBeUndefined();
  expect(share({ share: 'false' }).options.share).toBeUndefined();
  expect(share({ share: '' }).options.share).toBe(true);
  expect(share({ share: 'always' })).toMatchObject({
    options: { share: true },
    complaints: ['data-share="always" is none of true, false; it counts as true.'],
  });
});

test('the times of an answer are for who may choose the engine, or for whom the site says so', () => {
  const figures = (data: DOMStringMap) => readEmbedOptions(data, SCRIPT, PAGE).options.figures;
  expect(figures({ settings: 'all' })).toBe(true);
  expect(figures({ panel: '' })).toBe(true);
  expect(figures({ panel: '', figures: 'false' })).toBe(false);
  expect(figures({ figures: '' })).toBe(true);
});

test('load settings are attributes, by the names of the address', () => {
  const data = { quantize: 'q4', context: '512', kv: 'f32', attention: '', backend: 'gpu' };
  const { options, complaints } = readEmbedOptions(data, SCRIPT, PAGE);
  expect(options.load).toEqual({ ...STANDARD_LOAD, quantize: 'q4', contextLength: 512, kvCache: 'f32' });
  expect(complaints).toEqual(['data-backend="gpu" is none of auto, webgpu or cpu; it is left out.']);
});

test.each([
  ['owner/repo', undefined, 'https://huggingface.co/owner/repo/resolve/main/'],
  ['owner/repo:Q8_0', 'https://mirror.example.com/', 'https://mirror.example.com/owner/repo/resolve/main/#Q8_0'],
  ['models/m.gguf', undefined, 'https://shop.example.com/help/models/m.gguf'],
  ['./owner/repo', undefined, 'https://shop.example.com/help/owner/repo'],
])('data-model=%s with data-hub=%s is %s', (model, hub, location) => {
  const read = readEmbedOptions({ model, ...(hub && { hub }) }, SCRIPT, PAGE);
  expect([read.options.model, read.complaints]).toEqual([location, []]);
});

test.each([
  ['', 'chat', 0],
  ['true', 'chat', 0],
  ['false', null, 0],
  ['help', 'help', 0],
  ['../x', null, 1],
  ['x'.repeat(41), null, 1],
])('data-remember=%s keeps the conversation under %s', (remember, name, complaints) => {
  const read = readEmbedOptions({ remember, server: 'https://far.example' }, SCRIPT, PAGE);
  expect([read.options.remember, read.complaints.length]).toEqual([name, complaints]);
  expect(read.options.server?.remembers, 'the consent lasts as long').toBe(name !== null);
});

test('a rule of the server that is none is reported with the choices, on the tag and on the element', () => {
  const server = 'https://llm.example.com/v1';
  const ruled = (serverRule: string) => readEmbedOptions({ server, serverRule }, SCRIPT, PAGE).complaints;
  for (const rule of ['', 'remote', 'remote-until-loaded', 'longer-than-0', 'longer-than-4096'])
    expect(ruled(rule)).toEqual([]);
  for (const rule of ['remote-untill-loaded', 'Remote', 'local', 'longer-than-', 'longer-than-4k', 'longer-than--1']) {
    const told = `server-rule="${rule}" is none of remote, remote-until-loaded, longer-than-4096; the server answers.`;
    expect(ruled(rule)).toEqual([`data-${told}`]);
    const complaints: string[] = [];
    const written: Record<string, string> = { server, 'server-rule': rule };
    readEmbedServer((name) => written[name], '', false, complaints);
    expect(complaints).toEqual([told]);
  }
});

test.each([
  ['them', 'theme'],
  ['sytem', 'system'],
  ['kvBuget', 'kv-budget'],
  ['servermodel', 'server-model'],
  ['placehodler', 'placeholder'],
])('the complaint about a misspelled attribute, data-%s, names data-%s', (key, meant) => {
  const { options, complaints } = readEmbedOptions({ [key]: 'x', server: 'https://llm.example.com/v1' }, SCRIPT, PAGE);
  expect(options).toEqual(readEmbedOptions({ server: 'https://llm.example.com/v1' }, SCRIPT, PAGE).options);
  expect(complaints).toHaveLength(1);
  expect(complaints[0]).toMatch(
    new RegExp(`is no attribute, but data-${meant} is \\(docs/embedding\\.md\\); it is left out\\.$`),
  );
});

test('attributes of other scripts and of tools are none of ours', () => {
  const theirs = [
    'cfasync',
    'nscript',
    'turboTrack',
    'astroRerun',
    'domain',
    'websiteId',
    'rh',
    'testid',
    'v',
    'color',
  ];
  expect(readEmbedOptions(Object.fromEntries(theirs.map((key) => [key, ''])), SCRIPT, PAGE).complaints).toEqual([]);
});

test('each attribute of docs/embedding.md is known', () => {
  const docs = readFileSync(path.resolve(import.meta.dirname, '../../../docs/embedding.md'), 'utf8');
  const names = new Set(Array.from(docs.matchAll(/\bdata-([a-z0-9-]+)/g), ([, name]) => name));
  expect(names.size).toBeGreaterThan(25);
  const data = Object.fromEntries([...names].map((name) => [name.replace(/-(.)/g, (_, c) => c.toUpperCase()), '']));
  const { complaints } = readEmbedOptions(data, SCRIPT, PAGE);
  expect(complaints.filter((complaint) => complaint.includes('is no attribute'))).toEqual([]);
});
