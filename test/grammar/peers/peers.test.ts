// Masks beside those of xgrammar: equal on every token, but for differences of four kinds, each of which is counted.
// The storyteller's vocabulary always; with VIVACE_ALL_PROMPTS=1 also those of published models, where they are.

import { Ajv2020 } from 'ajv/dist/2020';
import { describe, expect, test } from 'vitest';
import { maskTokens, START, walk } from '../../../src/cpu/grammar';
import type { Automaton } from '../../../src/grammar/automaton';
import { compileConstraint } from '../../../src/grammar/constraint';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { randomSource } from '../../random';
import { dataFile, files, hasData, type Json, projectFile, readJson } from '../../text/fixtures';
import { compileSchema, documentSource } from '../documents';
import { XGRAMMAR_SAMPLES } from './gbnf_samples';
import { accepts, createCompiler, createMatcher, maskOf } from './xgrammar';

const DOCUMENTS = 3;

const object = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const string = { type: 'string' };
const boolean = { type: 'boolean' };
const SCHEMAS: Record<string, object> = {
  'a person': object({ name: string, age: { type: 'integer' }, ok: boolean }),
  'an optional property': object({ a: { type: 'null' }, b: boolean, c: { type: 'null' } }, ['b']),
  'optional properties alone': object({ a: { type: 'null' }, b: boolean }, []),
  values: object({ a: { enum: ['cat', 'Käse', 3, null] }, b: { type: 'array', items: { type: 'null' } } }, ['a']),
  'a constant': object({ a: { const: 'x"y' } }),
  anyOf: object({ a: { anyOf: [{ type: 'null' }, string] } }),
  'a bounded list': object({ a: { type: 'array', items: boolean, minItems: 1, maxItems: 3 } }),
  'a schema within itself': {
    $ref: '#/$defs/n',
    $defs: { n: object({ v: boolean, next: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/n' }] } }) },
  },
  'a bounded string': object({ a: { type: 'string', minLength: 1, maxLength: 3 } }),
  'a pattern': object({ a: { type: 'string', pattern: '^[a-c]{2}$' } }),
  'a range': object({ a: { type: 'integer', minimum: 3, maximum: 120 } }),
  'a number': object({ a: { type: 'number' } }),
  'a date': object({ a: { type: 'string', format: 'date' } }),
};

const VOCABULARIES: readonly [name: string, path: string, isThere: boolean][] = [
  ['the storyteller', projectFile('public/models/storyteller/tokenizer.json'), true],
  ...(process.env.VIVACE_ALL_PROMPTS
    ? (['qwen2.5', 'smollm2'] as const).map((name): [string, string, boolean] => {
        const path = `tokenizers/${name}/tokenizer.json`;
        return [name, dataFile(path), hasData(path)];
      })
    : []),
];

interface Compared {
  positions: number;
  /** Tokens by the kind of difference. */
  differences: Record<string, number>;
}

interface Case {
  ours: Automaton;
  theirs: Parameters<typeof createMatcher>[0];
  isJson: boolean;
  /** Judges a whole document. */
  fits(text: string): boolean | Promise<boolean>;
}

for (const [name, path, isThere] of VOCABULARIES) {
  describe.skipIf(!isThere)(`${name} (skipped without its file)`, () => {
    const json = isThere ? (readJson(path) as Json) : {};
    const tokenizer = isThere ? createTokenizer(files({ tokenizerJson: json })) : null;
    const vocabSize = tokenizer?.vocabSize ?? 0;
    const tokens = Array.from({ length: vocabSize }, (_, id) => tokenizer?.tokenBytes(id) ?? new Uint8Array());
    const stops = new Set(((json.added_tokens ?? []) as { id: number }[]).map(({ id }) => id));
    const end = [...stops][0] ?? 0;
    let made: ReturnType<typeof createCompiler> | null = null;
    // When it is needed first, and not beside another: the package makes a second memory then.
    const compiler = () => {
      made ??= createCompiler(json, vocabSize);
      return made;
    };
    const totals: Record<string, Record<string, number>> = {};

    async function compare({ ours, theirs, isJson, fits }: Case): Promise<Compared> {
      const matcher = await createMatcher(theirs);
      const draw = documentSource(ours, randomSource(1));
      const differences: Record<string, number> = {};
      let positions = 0;
      for (let n = 0; n < DOCUMENTS; n++) {
        matcher.reset();
        let place = START;
        const before: number[] = [];
        for (const id of [...(tokenizer?.encode(draw(), { addSpecialTokens: false }) ?? []), end]) {
          positions++;
          const mask = maskTokens(ours, place, tokens, [end]);
          const their = await maskOf(matcher, vocabSize);
          for (let token = 0; token < vocabSize; token++) {
            if (their[token] === mask[token] || (stops.has(token) && token !== end)) continue;
            const bytes = Uint8Array.from([...before, ...tokens[token]]);
            const kind = their[token] === 1 ? wrongOf(bytes, isJson) : await unfinishedOf(ours, bytes, fits);
            differences[kind] = (differences[kind] ?? 0) + 1;
          }
          if (id === end || !matcher.acceptToken(id)) break;
          before.push(...tokens[id]);
          place = walk(ours, place, tokens[id]) ?? START;
        }
      }
      matcher.dispose();
      return { positions, differences };
    }

    const judge = async (title: string, asked: Case) => {
      const { positions, differences } = await compare(asked);
      expect(positions).toBeGreaterThan(DOCUMENTS);
      expect(Object.keys(differences).filter((kind) => !KINDS.includes(kind))).toEqual([]);
      if (Object.keys(differences).length > 0) totals[title] = differences;
    };

    test.each(Object.entries(XGRAMMAR_SAMPLES))('the grammar of %s', async (title, source) => {
      const theirs = await (await compiler()).compileGrammar(source);
      const { automaton: ours } = compileConstraint({ kind: 'grammar', source });
      await judge(title, { ours, theirs, isJson: false, fits: (text) => accepts(source, text) });
    });

    test.each(Object.entries(SCHEMAS))('the schema of %s', async (title, schema) => {
      const theirs = await (await compiler()).compileJSONSchema(JSON.stringify(schema), false, -1, [', ', ': '], true);
      const isValid = new Ajv2020({ formats: { date: true } }).compile(schema);
      await judge(title, {
        ours: compileSchema(schema),
        theirs,
        isJson: true,
        fits: (text) => isValid(JSON.parse(text)),
      });
    });

    test('the differences', () => {
      if (name === 'the storyteller')
        expect(totals).toMatchInlineSnapshot(`
          {
            "a bounded string": {
              "they refuse what they accept as a whole text, or what ajv calls valid": 8,
              "they take bytes that are no UTF-8": 40,
              "they take control characters in a string": 240,
            },
            "a person": {
              "they take bytes that are no UTF-8": 514,
            },
            "any JSON": {
              "they take bytes that are no UTF-8": 67,
            },
            "anyOf": {
              "they take bytes that are no UTF-8": 215,
            },
            "letters beyond ASCII": {
              "they take bytes that are no UTF-8": 36,
            },
            "lines": {
              "they take bytes that are no UTF-8": 832,
            },
          }
        `);
      else console.log(name, totals);
    });
  });
}

const MALFORMED = 'they take bytes that are no UTF-8';
const CONTROL = 'they take control characters in a string';
const HALF = 'they take the second half of a surrogate pair alone';
const STRICTER = 'they refuse what they accept as a whole text, or what ajv calls valid';
const KINDS = [MALFORMED, CONTROL, HALF, STRICTER];

/** Why no document begins with these bytes, or that nothing is known against them. */
function wrongOf(bytes: Uint8Array, isJson: boolean): string {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return MALFORMED;
  }
  const text = new TextDecoder().decode(bytes);
  if (isJson && bytes.some((byte) => byte < 0x20)) return CONTROL;
  if (isJson && /(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]\w{0,2}$/.test(text)) return HALF;
  return `unknown: they take ${JSON.stringify(text)}`;
}

/** Whether a document that begins with these bytes fits in the eyes of a third party. */
async function unfinishedOf(automaton: Automaton, bytes: Uint8Array, fits: Case['fits']): Promise<string> {
  const from = walk(automaton, START, bytes);
  if (from === null) return 'unknown: we refuse it after all';
  const rest = documentSource(automaton, randomSource(2), {
    from,
    endsSoon: true,
    decode: (more) => String.fromCharCode(...more),
  })();
  const whole = Uint8Array.from([...bytes, ...Array.from(rest, (letter) => letter.charCodeAt(0))]);
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(whole);
  return (await fits(text)) ? STRICTER : `unknown: ${text} does not fit`;
}
