// Constraints over whole vocabularies: the storyteller's, and those of published models where their files are there.

import { describe, expect, test } from 'vitest';
import { maskTokens, mayEnd, type Place, START, walk } from '../../src/cpu/grammar';
import { createTokenizer } from '../../src/text/any_tokenizer';
import { randomSource } from '../random';
import { dataFile, files, hasData, projectFile, readJson } from '../text/fixtures';
import { compileSchema } from './documents';

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 40 },
    tags: { type: 'array', items: { enum: ['red', 'green', 'naïve 猫'] }, maxItems: 3 },
    size: { type: ['number', 'null'] },
    inside: { $ref: '#' },
  },
  required: ['name', 'tags', 'size'],
  additionalProperties: false,
};
const DOCUMENT = {
  name: 'Ünï "quoted" 🐉',
  tags: ['naïve 猫', 'red'],
  size: -12.5,
  inside: { name: '', tags: [], size: null },
};

const VOCABULARIES: readonly [name: string, path: string, isThere: boolean, documents: number][] = [
  ['the storyteller', projectFile('public/models/storyteller/tokenizer.json'), true, 10],
  ['Qwen 2.5', dataFile('tokenizers/qwen2.5/tokenizer.json'), hasData('tokenizers/qwen2.5/tokenizer.json'), 1],
  ['SmolLM2', dataFile('tokenizers/smollm2/tokenizer.json'), hasData('tokenizers/smollm2/tokenizer.json'), 1],
  ['Phi 3', dataFile('tokenizers/phi-3-mini/tokenizer.json'), hasData('tokenizers/phi-3-mini/tokenizer.json'), 1],
];

for (const [name, path, isThere, documents] of VOCABULARIES) {
  describe.skipIf(!isThere)(`${name} (skipped without its file)`, () => {
    const tokenizer = isThere ? createTokenizer(files({ tokenizerJson: readJson(path) })) : null;
    const tokens = Array.from(
      { length: tokenizer?.vocabSize ?? 0 },
      (_, id) => tokenizer?.tokenBytes(id) ?? new Uint8Array(),
    );
    const control = tokens.findIndex((bytes) => bytes.length === 0);
    const automaton = compileSchema(SCHEMA, { layout: 'free' });
    const after = (place: Place, bytes: Uint8Array): Place => {
      const next = walk(automaton, place, bytes);
      if (next === null) throw new Error(`refused: ${new TextDecoder().decode(bytes)}`);
      return next;
    };

    test.each([0, 2])('a document indented by %i is allowed token by token', (indent) => {
      let place = START;
      for (const id of tokenizer?.encode(JSON.stringify(DOCUMENT, null, indent), { addSpecialTokens: false }) ?? []) {
        expect(mayEnd(automaton, place)).toBe(false);
        // A vocabulary may put a space before the first word, which the text leaves out again.
        place = after(place, place === START && tokens[id][0] === 0x20 ? tokens[id].subarray(1) : tokens[id]);
      }
      const mask = maskTokens(automaton, place, tokens, [control]);
      expect(mask.reduce((sum, flag) => sum + flag, 0)).toBe(1);
      expect(mask[control]).toBe(1);
    });

    test('tokens drawn by the mask write JSON that fits', () => {
      const random = randomSource(3);
      for (let n = 0; n < documents; n++) {
        const ids: number[] = [];
        for (let place = START; ; ) {
          const mask = maskTokens(automaton, place, tokens, [control]);
          expect(mask[control] === 1).toBe(mayEnd(automaton, place));
          const allowed = [...mask.keys()].filter((id) => mask[id] === 1);
          const closing = allowed.filter((id) => id === control || /["}\]]/.test(new TextDecoder().decode(tokens[id])));
          const choices = ids.length > 25 && closing.length > 0 ? closing : allowed;
          const id = choices[Math.floor(random() * choices.length)];
          if (id === control) break;
          expect(id).toBeDefined();
          ids.push(id);
          place = after(place, tokens[id]);
        }
        const text = new TextDecoder('utf-8', { fatal: true }).decode(
          Uint8Array.from(ids.flatMap((id) => [...tokens[id]])),
        );
        expect(Object.keys(JSON.parse(text)).slice(0, 3)).toEqual(['name', 'tags', 'size']);
      }
    });
  });
}
