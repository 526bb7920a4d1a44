// Masks equal to those of llama.cpp's grammar sampling, on twenty grammars, as test/servers/llama_masks.test.ts recorded
// them.

import { expect, test } from 'vitest';
import { type Place, START, walkToken } from '../../../src/cpu/grammar';
import { compileConstraint } from '../../../src/grammar/constraint';
import { projectFile, readJson } from '../../text/fixtures';
import { LLAMA_SAMPLES } from './gbnf_samples';
import { type LlamaRecord, llamaMask, maskHash } from './llama_cpp';
import { STORYTELLER } from './storyteller_tokens';

const RECORDS = readJson(projectFile('test/grammar/peers/llama_cpp.json')) as unknown as Record<string, LlamaRecord>;

test.each(Object.entries(LLAMA_SAMPLES))('the grammar of %s', (name, source) => {
  const record = RECORDS[name];
  expect(record.source).toBe(source);
  const { automaton } = compileConstraint({ kind: 'grammar', source });
  const known = new Map<string, string>(); // many positions are at the same place
  const hashAt = (place: Place): string => {
    const key = `${place.state} ${place.stack}`;
    const hash = known.get(key) ?? maskHash(llamaMask(automaton, place));
    known.set(key, hash);
    return hash;
  };
  for (const { ids, masks } of record.documents) {
    let place: Place | null = START;
    const ours = ids.map((id) => {
      expect(place).not.toBeNull();
      const hash = hashAt(place ?? START);
      place = STORYTELLER.ends.includes(id) ? null : walkToken(automaton, place ?? START, STORYTELLER.tokens[id]);
      return hash;
    });
    expect(ours).toEqual(masks);
  }
});

test('there are twenty of them', () => {
  expect(Object.keys(RECORDS)).toEqual(Object.keys(LLAMA_SAMPLES));
  expect(Object.keys(RECORDS)).toHaveLength(20);
});
