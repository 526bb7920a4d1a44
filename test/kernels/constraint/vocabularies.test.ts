// The mask kernel against src/cpu/grammar.ts at each position of a hundred documents, over the vocabularies of published
// models. With VIVACE_ALL_PROMPTS=1, where their files are; it takes minutes.

import { describe, expect, test } from 'vitest';
import { type Place, START, walkToken } from '../../../src/cpu/grammar';
import { compileConstraint } from '../../../src/grammar/constraint';
import { restrictBytes } from '../../../src/grammar/restrict';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { documentSource } from '../../grammar/documents';
import { XGRAMMAR_SAMPLES } from '../../grammar/peers/gbnf_samples';
import { randomSchema } from '../../grammar/schema/random_schema';
import { randomSource } from '../../random';
import { dataFile, files, hasData, type Json, readJson } from '../../text/fixtures';
import { compare, onGpu } from './on_gpu';

/** Documents of each vocabulary: a hundred in all. */
const VOCABULARIES: readonly [name: string, documents: number][] = [
  ['qwen2.5', 33],
  ['smollm2', 33],
  ['phi-3-mini', 34],
];
const MOST_TOKENS = 30;
const fileOf = (name: string) => `tokenizers/${name}/tokenizer.json`;

/** The automaton of a document: of a grammar, or of a random schema that fits something. */
function automatonOf(n: number) {
  const grammars = Object.values(XGRAMMAR_SAMPLES);
  if (n % 2 === 0) return compileConstraint({ kind: 'grammar', source: grammars[(n / 2) % grammars.length] }).automaton;
  for (let seed = 1000 * n; ; seed++) {
    try {
      return compileConstraint({ kind: 'json_schema', schema: randomSchema(randomSource(seed)) }).automaton;
    } catch {} // `false`, or only itself
  }
}

for (const [name, documents] of VOCABULARIES) {
  const isAsked = process.env.VIVACE_ALL_PROMPTS !== undefined && hasData(fileOf(name));
  describe.skipIf(!isAsked)(`${name} (skipped unless asked for, and without its file)`, () => {
    const json = isAsked ? (readJson(dataFile(fileOf(name))) as Json) : null;
    const tokenizer = json && createTokenizer(files({ tokenizerJson: json }));
    const tokens = Array.from(
      { length: tokenizer?.vocabSize ?? 0 },
      (_, id) => tokenizer?.tokenBytes(id) ?? new Uint8Array(),
    );
    const writes = new Uint8Array(256);
    for (const bytes of tokens) if (bytes.length === 1) writes[bytes[0]] = 1;
    const end = tokens.findIndex((bytes) => bytes.length === 0);
    const counts = { documents: 0, positions: 0 };

    test.each(Array.from({ length: documents }, (_, n) => n))('document %i', async (n) => {
      const automaton = restrictBytes(automatonOf(n), writes);
      if (automaton === null) throw new Error('this vocabulary writes no such document');
      const gpu = await onGpu(automaton, { tokens, ends: [end] });
      const text = documentSource(automaton, randomSource(n))();
      const ids = [...(tokenizer?.encode(text, { addSpecialTokens: false }) ?? [])].slice(0, MOST_TOKENS);
      let place: Place = { ...START, dropsSpace: tokens[ids[0]]?.[0] === 0x20 && !text.startsWith(' ') };
      for (const id of [...ids, end]) {
        const allowed = await compare(gpu, automaton, { tokens, ends: [end] }, place);
        counts.positions++;
        if (id === end) break;
        expect(allowed).toContain(id);
        place = walkToken(automaton, place, tokens[id]) ?? place;
      }
      counts.documents++;
    });

    test('all of them', () => {
      expect(counts.documents).toBe(documents);
      console.log(`${name}: ${counts.positions} masks of ${tokens.length} tokens`);
    });
  });
}
