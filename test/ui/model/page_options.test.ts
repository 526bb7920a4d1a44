import { expect, test } from 'vitest';
import { DEFAULT_MODEL, readPageOptions, toLoadOptions, writePageOptions } from '../../../src/ui/model/page_options';
import {
  readNumber,
  SAMPLING_FIELDS,
  STANDARD_LOAD,
  standardSampling,
  toGenerateOptions,
} from '../../../src/ui/settings/settings_fields';

const BASE = 'https://example.com/chat/';
const STORYTELLER = new URL(DEFAULT_MODEL, BASE).href;

test('without a query the storyteller beside the page is loaded, with the defaults', () => {
  expect(readPageOptions('', BASE)).toEqual({
    model: 'https://example.com/chat/models/storyteller/storyteller-q8_0.gguf',
    load: STANDARD_LOAD,
    contextLength: undefined,
    complaints: [],
  });
});

test('model, backend, attention, kv, activations and context are taken from the address', () => {
  const options = readPageOptions(
    '?model=../m/x.gguf&backend=cpu&attention=eager&kv=f32&activations=q8&context=256',
    BASE,
  );
  expect(options).toEqual({
    model: 'https://example.com/m/x.gguf',
    load: { backend: 'cpu', attention: 'eager', kvCache: 'f32', activations: 'q8' },
    contextLength: 256,
    complaints: [],
  });
  expect(toLoadOptions(options.load, options.contextLength)).toEqual({
    backend: 'cpu',
    attention: 'eager',
    kvCache: 'f32',
    activations: 'q8',
    contextLength: 256,
  });
});

test.each([
  ['?model=owner/repo', 'https://huggingface.co/owner/repo/resolve/main/'],
  ['?model=hf:owner/repo@v1/x.gguf', 'https://huggingface.co/owner/repo/resolve/v1/x.gguf'],
  ['?model=owner/repo:Q4_K_M&hub=http://localhost:7/h/', 'http://localhost:7/h/owner/repo/resolve/main/#Q4_K_M'],
  ['?model=m/x.gguf', 'https://example.com/chat/m/x.gguf'],
  ['?model=models/storyteller', 'https://example.com/chat/models/storyteller'],
])('%s is %s, and is not written anew', (search, model) => {
  expect(readPageOptions(search, BASE)).toMatchObject({ model, complaints: [] });
  expect(new URLSearchParams(writePageOptions(search, STANDARD_LOAD, model, BASE))).toEqual(
    new URLSearchParams(search),
  );
});

for (const search of [
  '?backend=gpu',
  '?attention=magic',
  '?kv=q4',
  '?activations=f16',
  '?context=-1',
  '?context=1e3',
  '?model=javascript:alert(1)',
]) {
  test(`${search} is refused with a sentence and the default is used`, () => {
    const options = readPageOptions(search, BASE);
    expect(options.complaints).toHaveLength(1);
    expect(options.load).toEqual(STANDARD_LOAD);
    expect(options.model).toMatch(/^https:/);
    expect(options.contextLength).toBeUndefined();
  });
}

test('changed load settings go into the address, defaults leave it, the rest stays', () => {
  const eager = { ...STANDARD_LOAD, attention: 'eager' } as const;
  const x = new URL('x.gguf', BASE).href;
  expect(writePageOptions('?model=x.gguf&kv=f32', eager, x, BASE)).toBe('?model=x.gguf&attention=eager');
  expect(writePageOptions('?kv=f32', STANDARD_LOAD, STORYTELLER, BASE)).toBe('');
});

test('another model goes into the address; the storyteller and files have none', () => {
  const y = 'https://example.org/y/';
  for (const search of ['', '?model=x.gguf', '?model=javascript:1']) {
    expect(writePageOptions(search, STANDARD_LOAD, y, BASE)).toBe(`?model=${encodeURIComponent(y)}`);
    expect(writePageOptions(search, STANDARD_LOAD, STORYTELLER, BASE)).toBe('');
    expect(writePageOptions(search, STANDARD_LOAD, [], BASE)).toBe('');
  }
});

test('numbers are brought into range, and no number means the default', () => {
  const [temperature, topK] = SAMPLING_FIELDS;
  expect(readNumber(temperature!, '0.35')).toBe(0.35);
  expect(readNumber(temperature!, '-3')).toBe(0);
  expect(readNumber(temperature!, '')).toBe(0.6);
  expect(readNumber(topK!, '10.6')).toBe(11);
  expect(readNumber(topK!, 'many')).toBe(40);
});

test('empty fields leave the choice to the engine', () => {
  const options = toGenerateOptions(standardSampling());
  expect(options).toEqual({ temperature: 0.6, topK: 40, topP: 0.9, minP: 0.05, repetitionPenalty: 1 });
});
