// Reasons of the engine in each language: every sentence that the sources can make has its words in German and Japanese,
// with the same values, and is recognized among all others.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAst } from 'vite';
import { afterEach, describe, expect, test } from 'vitest';
import { decodeStep } from '../../src/metrics/panel/machine_figures';
import { tuneTables } from '../../src/metrics/tuning/tune_table';
import { why } from '../../src/shared/why';
import { reasons as de } from '../../src/words/de/reasons';
import { importTranslation } from '../../src/words/import_translation';
import { reasons as ja } from '../../src/words/ja/reasons';
import { useLanguage } from '../../src/words/language';
import { sayReason } from '../../src/words/reasons';

const SRC = path.resolve(import.meta.dirname, '../../src');

interface Template {
  type?: string;
  tag?: { name?: string };
  quasi: { quasis: { value: { cooked: string } }[] };
}

/** The templates of why`...` in a file, with {0}, {1} ... for their values. */
function templatesOf(code: string): string[] {
  const found: string[] = [];
  JSON.stringify(parseAst(code, { lang: 'ts' }), (_, node: Template | bigint | null) => {
    if (typeof node === 'bigint') return 0;
    if (node?.type === 'TaggedTemplateExpression' && node.tag?.name === 'why') {
      found.push(node.quasi.quasis.map(({ value }, i) => (i > 0 ? `{${i - 1}}` : '') + value.cooked).join(''));
    }
    return node;
  });
  return found;
}

const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(path.join(SRC, file), 'utf8'))
  .filter((code) => code.includes('why`'));
const templates = [...new Set(sources.flatMap(templatesOf))].sort();

const VALUES = ['eager', '7', '4096', 'HEADS'];
const filled = (text: string) => text.replace(/\{(\d)\}/g, (_, i: string) => VALUES[Number(i)] ?? '');

afterEach(() => useLanguage('en', importTranslation));

test('reasons are found in the sources, and none has the mark between two of them', () => {
  expect(templates.length).toBeGreaterThan(80);
  expect(templates).toContain('instead of {0}: {1}');
  expect(templates.filter((text) => text.includes('; '))).toEqual([]);
});

describe.each([
  ['de', de],
  ['ja', ja],
] as const)('%s', (language, reasons) => {
  test('has each reason of the engine, and no other', () => {
    expect(Object.keys(reasons).sort()).toEqual(templates);
  });

  test('says each with all its values, and tells it from all others', async () => {
    await useLanguage(language, importTranslation);
    for (const [english, text] of Object.entries(reasons)) {
      expect([...text.matchAll(/\{\d\}/g)].flat().sort(), english).toEqual(
        [...english.matchAll(/\{\d\}/g)].flat().sort(),
      );
      expect(sayReason(filled(english)), english).toBe(filled(text));
    }
  });
});

test('English stays as the engine wrote it', () => {
  const reason = why`instead of ${'eager'}: ${why`head_dim ${260} is above ${256}`}`;
  expect(reason).toBe('instead of eager: head_dim 260 is above 256');
  expect(sayReason(reason)).toBe(reason);
});

test.each([
  [
    'fused_decode up to 256 keys, then split_kv_decode (4 to 64 splits); tuned on this GPU 2026-11-23',
    'fused_decode bis 256 Keys, dann split_kv_decode (4 bis 64 Teile); auf dieser GPU abgestimmt am 2026-11-23',
  ],
  [
    'the default, not tuned on this GPU; instead of eager: what was tuned cannot run: HEADS 9 is above 8',
    'der Standard, auf dieser GPU nicht abgestimmt; statt eager: die abgestimmten Werte laufen hier nicht: HEADS 9 ist mehr als 8',
  ],
  [
    '0.123 ms a step here, 0.170 ms as plain steps; plain from 900 tokens on',
    '0,123 ms je Schritt, 0,170 ms als einfache Schritte; ab 900 Tokens einfache Schritte',
  ],
  ['layer 3: qkv is stored as f16, which has no integers', 'Schicht 3: qkv ist als f16 gespeichert, ohne ganze Zahlen'],
  [
    '96 workgroups of 512 threads ran at once here, too few for 128 KV heads',
    'hier liefen 96 Workgroups von 512 Threads zugleich, zu wenige für 128 KV-Heads',
  ],
  [
    'kernels/matvec: 64 lanes exceed the subgroups of 32 of this GPU. Use activations "f32", or other parameters.',
    'kernels/matvec: 64 Lanes sind mehr als die Subgroups von 32 dieser GPU. Nehmen Sie Aktivierungen „f32“ oder andere Parameter.',
  ],
  [
    'attention/eager: the shader was refused. line 3: expected a brace; found none',
    'attention/eager: Der Shader wurde abgelehnt. line 3: expected a brace; found none',
  ],
  [
    'The schema\'s "#/properties/a b" has the keyword "not" beside const, which is not enforced here. Leave it out, or say it in another way.',
    '"#/properties/a b" im Schema hat das Schlüsselwort "not" neben const, was hier nicht erzwungen wird. Lassen Sie es weg, oder sagen Sie es anders.',
  ],
  [
    'The minLength of the schema\'s "#/items" is not a whole number from 0.',
    'minLength bei "#/items" im Schema ist keine ganze Zahl ab 0.',
  ],
  [
    'The type of the schema\'s "#/items" is not one of object, null.',
    'type bei "#/items" im Schema ist keiner von object, null.',
  ],
  [
    'The pattern of "#/properties/a b" cannot be used: it has a ) without a ( (at letter 3).',
    'Das Muster von "#/properties/a b" ist so nicht brauchbar: Es hat eine ) ohne ( (bei Zeichen 3).',
  ],
])('German says what stands in another, and behind another: %s', async (english, german) => {
  await useLanguage('de', importTranslation);
  expect(sayReason(english)).toBe(german);
});

test('what is no reason stays as it is, however long', async () => {
  await useLanguage('ja', importTranslation);
  for (const text of [
    '',
    '; ',
    'a shop: a bell',
    'instead of : ',
    `${'instead of a: '.repeat(1e5)}b`,
    '{0}',
    '__proto__',
  ]) {
    expect(sayReason(text)).toBe(text);
  }
});

test('the panel says the decode step and its reason in German, with a decimal comma', async () => {
  await useLanguage('de', importTranslation);
  const { figures, note } = decodeStep({
    name: 'fused',
    reason: '0.1 ms a step here, 0.2 ms as plain steps',
    gain: 0.031,
    giveUps: 2,
  });
  expect(figures[0]?.value).toBe('fused, hier 3,1 % schneller als plain, gab 2-mal auf');
  expect(note).toMatch(/^0,1 ms je Schritt, 0,2 ms als einfache Schritte\. Verschmolzene Schritte/);
});

test('the table of tuning says a refusal in German', async () => {
  await useLanguage('de', importTranslation);
  const result = {
    pass: 'decode',
    combination: null,
    name: 'eager',
    kvLen: 8,
    nTokens: 1,
    parameters: {},
    ms: null,
    fastest: false,
  } as const;
  const [table] = tuneTables([{ ...result, refused: 'HEADS 9 is above 8' }], 'decode');
  expect(table?.rows[0]?.refused).toBe('HEADS 9 ist mehr als 8');
});
