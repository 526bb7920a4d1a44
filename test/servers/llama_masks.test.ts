// Masks equal to those of llama.cpp's grammar sampling, at each position of documents that it draws under twenty grammars.
// With VIVACE_RECORD=1 they become the fixture of test/grammar/peers/llama_cpp.test.ts.

import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Place, START, walkToken } from '../../src/cpu/grammar';
import { compileConstraint } from '../../src/grammar/constraint';
import { LLAMA_SAMPLES } from '../grammar/peers/gbnf_samples';
import { type LlamaRecord, llamaMask, maskHash } from '../grammar/peers/llama_cpp';
import { STORYTELLER } from '../grammar/peers/storyteller_tokens';
import { projectFile } from '../text/fixtures';
import { drawMasked } from './llama_draws';
import { type LlamaServer, startLlamaServer } from './llama_server';

const { tokens, ends, never } = STORYTELLER;
/** Documents that wander, and such that end soon. */
const DRAWS = [1, 2, 3, 4, 5].map((seed) => ({ seed, closing: seed > 2 ? 2 * seed : 0 }));

const records: Record<string, LlamaRecord> = {};
let server: LlamaServer;

beforeAll(async () => {
  server = await startLlamaServer();
});

afterAll(async () => {
  await server?.close();
  if (!process.env.VIVACE_RECORD) return;
  const lines = Object.entries(records).map(([name, { source, documents }]) => {
    const texts = documents.map((one) => `   ${JSON.stringify(one)}`).join(',\n');
    return ` ${JSON.stringify(name)}: {\n  "source": ${JSON.stringify(source)},\n  "documents": [\n${texts}\n  ]\n }`;
  });
  writeFileSync(projectFile('test/grammar/peers/llama_cpp.json'), `{\n${lines.join(',\n')}\n}\n`);
});

test.each(Object.entries(LLAMA_SAMPLES))('the grammar of %s', async (name, source) => {
  const { automaton } = compileConstraint({ kind: 'grammar', source });
  const documents: LlamaRecord['documents'] = [];
  for (const draw of DRAWS) {
    const ids: number[] = [];
    const masks: string[] = [];
    let place: Place | null = START;
    for (const { id, allowed } of await drawMasked(server, source, draw)) {
      const theirs = Uint8Array.from(tokens, (_, token) => (allowed.has(token) && token !== never ? 1 : 0));
      const ours = llamaMask(automaton, place ?? START);
      const different = [...ours.keys()].filter((token) => ours[token] !== theirs[token]);
      expect([ids, different]).toEqual([ids, []]);
      ids.push(id);
      masks.push(maskHash(theirs));
      if (!ends.includes(id)) place = walkToken(automaton, place ?? START, tokens[id]);
      expect(place).not.toBeNull();
    }
    expect(ids.length).toBeGreaterThan(0);
    documents.push({ ids, masks });
  }
  records[name] = { source, documents };
});
