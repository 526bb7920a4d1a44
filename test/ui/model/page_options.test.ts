// The options in the page's address, read and written.

import { expect, test } from 'vitest';
import { DEFAULT_MODEL, mayBeListed, readPageOptions, writePageOptions } from '../../../src/ui/model/page_options';
import { STANDARD_LOAD, toOptions } from '../../../src/ui/settings/settings_fields';

const BASE = 'https://example.com/chat/';
const STORYTELLER = new URL(DEFAULT_MODEL, BASE).href;

test('without a query the storyteller beside the page is loaded, with the defaults', () => {
  expect(readPageOptions('', BASE)).toEqual({
    model: 'https://example.com/chat/models/storyteller/storyteller-q8_0.gguf',
    load: STANDARD_LOAD,
    shares: true,
    complaints: [],
  });
});

test('the model and every load setting are taken from the address', () => {
  const options = readPageOptions(
    '?model=../m/x.gguf&backend=cpu&attention=eager&kv=f32&quantize=q4&activations=q8&step=plain&context=256' +
      '&kv-budget=0&max-concurrent=2&keep-prompts=none',
    BASE,
  );
  const load = {
    backend: 'cpu',
    attention: 'eager',
    kvCache: 'f32',
    quantize: 'q4',
    activations: 'q8',
    step: 'plain',
    contextLength: 256,
    kvBudgetBytes: 0,
    maxConcurrent: 2,
    keepPrompts: 'none',
  } as const;
  expect(options).toEqual({ model: 'https://example.com/m/x.gguf', load, shares: true, complaints: [] });
  expect(toOptions(options.load)).toEqual(load);
});

test('what is not asked for is the default, and a context is left to the engine', () => {
  expect(toOptions(STANDARD_LOAD)).toEqual({
    attention: 'auto',
    kvCache: 'f16',
    quantize: 'none',
    activations: 'auto',
    step: 'auto',
    backend: 'auto',
    maxConcurrent: 4,
    keepPrompts: 'system',
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
  '?step=fast',
  '?quantize=q5',
  '?context=1',
  '?context=-1',
  '?context=1e3',
  '?hub=ftp://mirror.example',
  '?hub=javascript:alert(1)',
  '?model=javascript:alert(1)',
  '?model=',
  '?model=+%20',
]) {
  test(`${search} is refused with a sentence and the default is used`, () => {
    const options = readPageOptions(search, BASE);
    expect(options.complaints).toHaveLength(1);
    expect(options.load).toEqual(STANDARD_LOAD);
    expect(options.model).toMatch(/^https:/);
  });
}

test('a long illegal value is cut in its notice', () => {
  for (const name of ['kv', 'hub', 'model']) {
    const { complaints } = readPageOptions(`?${name}=x:${'y'.repeat(100_000)}`, BASE);
    expect(complaints).toHaveLength(1);
    expect(complaints[0].message.length).toBeLessThan(300);
    expect(complaints[0].facts?.value).toHaveLength(80);
  }
});

test('an illegal value is answered with the legal ones', () => {
  const { complaints } = readPageOptions('?kv=q4&context=many', BASE);
  expect(complaints.map(({ message }) => message)).toEqual([
    'The address asks for context=many; choose a whole number of at least 2.',
    'The address asks for kv=q4; choose f16, f32 or q8.',
  ]);
  expect(complaints[1]).toMatchObject({ code: 'address-value', facts: { name: 'kv', value: 'q4' } });
});

test('changed load settings go into the address, defaults leave it, the rest stays', () => {
  const changed = { ...STANDARD_LOAD, attention: 'eager', contextLength: 512, quantize: 'q8' } as const;
  const x = new URL('x.gguf', BASE).href;
  const query = '?model=x.gguf&context=512&attention=eager&quantize=q8';
  expect(writePageOptions('?model=x.gguf&kv=f32', changed, x, BASE)).toBe(query);
  expect(writePageOptions('?kv=f32&context=9', STANDARD_LOAD, STORYTELLER, BASE)).toBe('');
});

test('another model goes into the address; the storyteller and files have none', () => {
  const y = 'https://example.org/y/';
  for (const search of ['', '?model=x.gguf', '?model=javascript:1']) {
    expect(writePageOptions(search, STANDARD_LOAD, y, BASE)).toBe(`?model=${y}`);
    expect(writePageOptions(search, STANDARD_LOAD, STORYTELLER, BASE)).toBe('');
    expect(writePageOptions(search, STANDARD_LOAD, [], BASE)).toBe('');
  }
});

test.each([
  ['', 'https://huggingface.co/owner/repo/resolve/main/', '?model=owner/repo'],
  ['', 'https://huggingface.co/owner/repo/resolve/v1/x.gguf', '?model=owner/repo@v1/x.gguf'],
  ['', 'https://huggingface.co/owner/repo/resolve/main/#Q4_K_M', '?model=owner/repo:Q4_K_M'],
  [
    '?hub=http://localhost:7',
    'http://localhost:7/owner/repo/resolve/main/',
    '?hub=http://localhost:7&model=owner/repo',
  ],
  [
    '?hub=http://localhost:7',
    'https://huggingface.co/o/r/resolve/main/',
    '?hub=http://localhost:7&model=https://huggingface.co/o/r/resolve/main/',
  ],
  ['', 'https://example.org/a&b=c#d/x.gguf?e', '?model=https://example.org/a%26b%3Dc%23d/x.gguf%3Fe'],
])('from %s the model %s is written as %s, and read again', (search, model, written) => {
  const query = writePageOptions(search, STANDARD_LOAD, model, BASE);
  expect(query).toBe(written);
  expect(readPageOptions(query, BASE).model).toBe(model);
});

test('a model of the list is named by its repository alone, and its branch main then by name', () => {
  const listed = [
    { repository: 'owner/repo', location: 'https://huggingface.co/owner/repo/resolve/abc/x.gguf' },
    { repository: 'owner/two', location: 'https://huggingface.co/owner/two/resolve/abc/1.gguf' },
    { repository: 'owner/two', location: 'https://huggingface.co/owner/two/resolve/abc/2.gguf' },
  ];
  const write = (model: string) => writePageOptions('', STANDARD_LOAD, model, BASE, listed);
  expect(listed.map(({ location }) => write(location))).toEqual([
    '?model=owner/repo',
    '?model=owner/two@abc/1.gguf',
    '?model=owner/two@abc/2.gguf',
  ]);
  const main = 'https://huggingface.co/owner/repo/resolve/main/';
  expect(write(main)).toBe('?model=owner/repo@main');
  for (const model of [main, ...listed.map(({ location }) => location)])
    expect(readPageOptions(write(model), BASE, listed).model).toBe(model);
  const asked = [
    '?model=owner/repo',
    '?model=owner/repo@main',
    '?model=owner/repo:Q4_K_M',
    '?model=https://x.org/',
    '',
  ];
  expect(asked.map(mayBeListed)).toEqual([true, false, false, false, false]);
});

test('the address can keep this tab from sharing its engine', () => {
  expect(readPageOptions('?share=off', BASE).shares).toBe(false);
  const { shares, complaints } = readPageOptions('?share=no', BASE);
  expect(shares).toBe(true);
  expect(complaints[0].message).toBe('The address asks for share=no; choose on or off.');
});
