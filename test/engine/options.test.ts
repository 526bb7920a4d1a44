// Compares docs/options.md with the table of options. `npx vitest run --project unit test/engine/options.test.ts -u`
// writes the page anew.

import { expect, test } from 'vitest';
import { isLegal, legalValues, readValue, resolveOptions } from '../../src/engine/option_values';
import { GENERATE_OPTIONS, LOAD_OPTIONS, type Option, type Options } from '../../src/engine/options';

const code = (text: string) => `\`${text}\``;
const dashed = (key: string) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function valuesOf(option: Option): string {
  if (option.kind !== 'choice') return legalValues(option);
  return Object.entries(option.choices)
    .map(([value, words]) => (words ? `${code(value)} (${words})` : code(value)))
    .join(', ');
}

function rowsOf(table: Options): string[] {
  const rows = Object.entries(table).map(([key, option]) => {
    const standard = option.default === undefined ? '' : code(JSON.stringify(option.default));
    const name = option.isApiOnly ? '' : code(option.name ?? dashed(key));
    return [code(key), name, option.label ?? '', standard, option.help, valuesOf(option)];
  });
  const titles = ['key', 'name', 'in the dialog', 'default', 'what', 'values'];
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

const REFERENCE = `# Options

This page is made from the table in [src/engine/options.ts](../src/engine/options.ts), and a test compares the two. An option
without a default is the engine's choice.

## Loading a model

\`Engine.load(model, options)\` takes all by key. By name they are parameters of the chat page's address (\`?quantize=q4\`),
attributes of the script tag (\`data-quantize="q4"\`) and of \`<vivace-chat>\` (\`quantize="q4"\`), and flags of \`npm run generate\`
(\`--quantize q4\`). \`sha256\` is no parameter of the address, and \`debug\` is a flag alone.

${rowsOf(LOAD_OPTIONS).join('\n')}

## Generating an answer

\`engine.chat(messages, options)\` and \`engine.complete(prompt, options)\` take all by key, and \`npm run generate\` by name. There
\`--temperature\` and \`--seed\` are 0 unless given, so that a run can be repeated.

${rowsOf(GENERATE_OPTIONS).join('\n')}
`;

test('docs/options.md says what the table says', async () => {
  await expect(REFERENCE).toMatchFileSnapshot('../../docs/options.md');
});

test.each(Object.entries({ ...LOAD_OPTIONS, ...GENERATE_OPTIONS }))('%s has a legal default', (_, option: Option) => {
  if (option.default !== undefined) expect(isLegal(option, option.default)).toBe(true);
  if ('slider' in option) for (const edge of option.slider?.slice(0, 2) ?? []) expect(isLegal(option, edge)).toBe(true);
});

test('names differ, so that an address, an attribute and a flag say one thing', () => {
  const names = Object.entries<Option>({ ...LOAD_OPTIONS, ...GENERATE_OPTIONS }).map(([key, { name = key }]) => name);
  expect(new Set(names).size).toBe(names.length);
});

test.each<[string, Option, string, unknown]>([
  ['a number', GENERATE_OPTIONS.temperature, '0.5', 0.5],
  ['a number out of range', GENERATE_OPTIONS.temperature, '-1', undefined],
  ['no number', GENERATE_OPTIONS.temperature, '', undefined],
  ['a part of a whole number', LOAD_OPTIONS.contextLength, '2.5', undefined],
  ['a numeral of another kind', LOAD_OPTIONS.contextLength, '1e3', undefined],
  ['the word beside a number', GENERATE_OPTIONS.runAhead, 'auto', 'auto'],
  ['a choice', LOAD_OPTIONS.quantize, 'q4', 'q4'],
  ['a name that every object has', LOAD_OPTIONS.quantize, 'toString', undefined],
])('%s from text', (_, option, text, value) => {
  expect(readValue(option, text)).toBe(value);
});

test('what is illegal is refused with its name, the legal values and itself, cut short', () => {
  const resolve = (options: object) => () => resolveOptions({ ...LOAD_OPTIONS, ...GENERATE_OPTIONS }, options);
  expect(resolve({ attention: 'magic' })).toThrow(
    'attention must be auto, cpu, eager, chunked, flash_prefill, fused_decode or split_kv_decode, got magic.',
  );
  expect(resolve({ runAhead: 0 })).toThrow('runAhead must be auto or a whole number of at least 1, got 0.');
  expect(resolve({ gpuTimes: 1 })).toThrow('gpuTimes must be true or false, got 1.');
  expect(resolve({ sha256: 'x'.repeat(200) })).toThrow(`sha256 must be 64 hex digits, got ${'x'.repeat(80)}.`);
  expect(resolve({ hubUrl: null })).toThrow('hubUrl must be an http or https address, got null.');
});
