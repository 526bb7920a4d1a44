// The mask and advance kernels against src/cpu/grammar.ts, over the storyteller's vocabulary and a small one.

import { describe, expect, test } from 'vitest';
import { maskTokens, type Place, START, walkToken } from '../../../src/cpu/grammar';
import { compileGrammar } from '../../../src/grammar/compile/compile';
import { compileConstraint } from '../../../src/grammar/constraint';
import { call, choice, literal, sequence } from '../../../src/grammar/grammar';
import { GAVE_UP, NO_TOKEN } from '../../../src/sampling/sampling';
import { MAX_TOKEN_BYTES, packTokens, unpackTokens } from '../../../src/sampling/token_bytes';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { PATHS, pathName } from '../../gpu/test_device';
import { seededRandom } from '../../sampling/statistics';
import { files, projectFile, readJson } from '../../text/fixtures';
import { compare, onGpu, RING, type Vocabulary } from './on_gpu';

const MAX_STACK = 30;

const bytesOf = (text: string) => new TextEncoder().encode(text);

const STORYTELLER = (() => {
  const tokenizer = createTokenizer(
    files({ tokenizerJson: readJson(projectFile('public/models/storyteller/tokenizer.json')) }),
  );
  const tokens = Array.from({ length: tokenizer.vocabSize }, (_, id) => tokenizer.tokenBytes(id));
  return { tokens, ends: tokenizer.eosIds };
})();

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 20 },
    tags: { type: 'array', items: { enum: ['red', 'green', 'naïve 猫'] }, maxItems: 3 },
    size: { type: ['number', 'null'] },
    inside: { $ref: '#' },
  },
  required: ['name', 'tags', 'size'],
  additionalProperties: false,
};

describe('over the vocabulary of the storyteller', () => {
  for (const without of PATHS) {
    test(`a document drawn from the mask, ${pathName(without)}`, async () => {
      const { automaton } = compileConstraint({ kind: 'json_schema', schema: SCHEMA });
      const gpu = await onGpu(automaton, STORYTELLER, without);
      const random = seededRandom(5);
      let place: Place = { ...START, dropsSpace: true };
      const most = without.length === 0 ? 24 : 4;
      for (let position = 9; position < 9 + most; position++) {
        const allowed = await compare(gpu, automaton, STORYTELLER, place, position);
        const id = allowed[Math.floor(random() * allowed.length)];
        const next = STORYTELLER.ends.includes(id) ? place : walkToken(automaton, place, STORYTELLER.tokens[id]);
        expect(await gpu.advance(position, id)).toEqual(next);
        place = next as Place;
      }
    });
  }

  test('any JSON object, at places with a deep stack', async () => {
    const { automaton } = compileConstraint({ kind: 'json_object' });
    const gpu = await onGpu(automaton, STORYTELLER);
    for (const depth of [1, 12, 25, 26, 27, 28, 29, 30]) {
      const text = bytesOf('{"a":'.repeat(depth));
      const place = [...text].reduce<Place>((at, byte) => walkToken(automaton, at, Uint8Array.of(byte)) ?? at, START);
      await compare(gpu, automaton, STORYTELLER, place);
    }
  });
});

/** `(x)`, `((x))` and so on: each call under way is a place of the stack. */
const NESTED = compileGrammar([
  { name: 'root', node: sequence(literal('('), choice(literal('x'), call(0)), literal(')')) },
]);

describe('at edges', () => {
  const long = `${'('.repeat(20)}x${')'.repeat(20)}`;
  const texts = [
    ...['', '(', ')', 'x', ' (', ' ', '((x))', long, '('.repeat(29), '('.repeat(30), '('.repeat(31), '('.repeat(60)],
    ...[`${'('.repeat(29)}x`, ')'.repeat(30), `${'(x)'.repeat(3)}`, `x${')'.repeat(30)}`, '\u{1f600}', 'end', ')end'],
  ];
  const small: Vocabulary = {
    tokens: [
      ...texts.map(bytesOf),
      new Uint8Array(MAX_TOKEN_BYTES),
      ...Array.from({ length: 250 }, () => bytesOf('y')),
    ],
    ends: [0, 17],
  };

  test('stacks up to the limit, tokens that push and pop through all of it, ends', async () => {
    const gpu = await onGpu(NESTED, small);
    for (const dropsSpace of [false, true]) {
      for (const depth of [0, 1, 2, 28, 29, MAX_STACK, 31]) {
        const place = walkToken(NESTED, START, bytesOf('('.repeat(depth))) ?? START;
        for (const inside of [place, walkToken(NESTED, place, bytesOf('x')) ?? place]) {
          const at = dropsSpace ? { ...inside, dropsSpace } : inside;
          for (const id of await compare(gpu, NESTED, small, at, 5)) {
            const after = small.ends.includes(id) ? at : walkToken(NESTED, at, small.tokens[id]);
            expect(await gpu.advance(5, id)).toEqual(after);
          }
        }
      }
    }
  });

  test('a place stays behind the end of an answer, a refused token and no token', async () => {
    const gpu = await onGpu(NESTED, small);
    const place: Place = { ...(walkToken(NESTED, START, bytesOf('((')) as Place), dropsSpace: true };
    for (const id of [0, 17, 2, small.tokens.length, NO_TOKEN, GAVE_UP]) {
      gpu.write(7, place);
      expect(await gpu.advance(7, id)).toEqual(place);
    }
  });

  test('positions share the ring, and a prompt of several tokens counts', async () => {
    const gpu = await onGpu(NESTED, small);
    gpu.write(10, START);
    const inside = await gpu.advance(10, 1);
    gpu.write(11 + RING, START); // the same place of the ring
    const logits = new Float32Array(small.tokens.length).fill(1);
    expect((await gpu.mask(11, logits)).after[2]).toBe(Number.NEGATIVE_INFINITY);
    gpu.write(11, inside);
    const { after } = await gpu.mask(11, logits, 6);
    expect(after[3]).toBe(1);
  });

  test('logits that are not finite stay, and maxima are those of the masked logits', async () => {
    const gpu = await onGpu(NESTED, small);
    gpu.write(9, START);
    const { tokens } = small;
    const logits = Float32Array.from(tokens, (_, id) => id % 50);
    logits.set([Number.NaN, -3.5], 0);
    logits[100] = Number.POSITIVE_INFINITY;
    const { after, maxima } = await gpu.mask(9, logits);
    expect([after[0], after[1], after[100]]).toEqual([Number.NaN, -3.5, Number.POSITIVE_INFINITY]);
    const keys = Array.from({ length: Math.ceil(tokens.length / 32) }, (_, group) => maxima[group]);
    expect(keys[0]).toBe(0xffffffff);
    expect(keys[3]).toBe(0xffffffff);
    expect(keys[1]).toBe(0);
    expect(keys.at(-1)).toBe(0);
    logits[0] = 1;
    const mask = maskTokens(NESTED, START, tokens, small.ends);
    const largest = Math.max(...[...logits.subarray(0, 32)].filter((_, id) => mask[id] === 1));
    const [bits] = new Uint32Array(Float32Array.of(largest).buffer);
    expect((await gpu.mask(9, logits)).maxima[0]).toBe(bits + 2 ** 31);
  });
});

test('a token that is too long has no bytes, and one that ends an answer is marked', () => {
  const tokens = ['a', '', 'b'.repeat(MAX_TOKEN_BYTES + 1), 'c'.repeat(MAX_TOKEN_BYTES), 'de'].map(bytesOf);
  const packed = packTokens(tokens.length, (id) => tokens[id], [1, 4, 9]);
  expect([...packed.starts]).toEqual([0, 0x80000001, 1, 1, 0x80000000 + 257, 259]);
  const unpacked = unpackTokens(packed);
  expect(unpacked.tokens.map(({ length }) => length)).toEqual([1, 0, 0, MAX_TOKEN_BYTES, 2]);
  expect(unpacked.ends).toEqual([1, 4]);
});
