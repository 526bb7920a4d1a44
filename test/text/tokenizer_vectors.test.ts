// The ids of published tokenizers, from tokenizer.json and from the vocabulary in GGUF files.

import { openAsBlob } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseGguf } from '../../src/storage/formats/gguf';
import { blobSource } from '../../src/storage/source/blob_source';
import { createTokenizer } from '../../src/text/any_tokenizer';
import type { Tokenizer } from '../../src/text/tokenizer';
import { dataFile, files, hasData, projectFile, readJson, vectors } from './fixtures';

async function fromGguf(path: string): Promise<Tokenizer> {
  const { metadata } = await parseGguf(blobSource('vocabulary.gguf', await openAsBlob(dataFile(path))));
  return createTokenizer(files({ gguf: metadata }));
}

const fromJson = (path: string) => createTokenizer(files({ tokenizerJson: readJson(dataFile(path)) }));

const CASES: [string, string][] = [
  ['qwen2', 'tokenizers/qwen2.5/tokenizer.json'],
  ['phi-3', 'tokenizers/phi-3-mini/tokenizer.json'],
  ['phi-3', 'tokenizers/gguf_vocab/ggml-vocab-phi-3.gguf'],
  ['gpt-2', 'tokenizers/gguf_vocab/ggml-vocab-gpt-2.gguf'],
  ['starcoder', 'tokenizers/gguf_vocab/ggml-vocab-starcoder.gguf'],
];

describe.each(CASES)('%s from %s', (name, path) => {
  test.skipIf(!hasData(path))(
    'gives the expected ids for every vector (skipped where the data is absent)',
    async () => {
      const tokenizer = path.endsWith('.gguf') ? await fromGguf(path) : fromJson(path);
      for (const { text, ids } of vectors(name)) {
        expect([text, ...tokenizer.encode(text, { addSpecialTokens: false })]).toEqual([text, ...ids]);
        expect(tokenizer.decode(tokenizer.encode(text, { addSpecialTokens: false }))).toBe(text);
      }
    },
  );
});

const { texts } = readJson(projectFile('test/fixtures/tokenizer/models.json')) as { texts: string[] };
const published = readJson(projectFile('test/fixtures/tokenizer/published.json')) as Record<string, number[][]>;

describe.each(Object.entries(published))('%s from tokenizer.json', (name, ids) => {
  const path = `tokenizers/${name}/tokenizer.json`;
  test.skipIf(!hasData(path))('gives the reference’s ids for hostile texts (skipped where the data is absent)', () => {
    const tokenizer = fromJson(path);
    texts.forEach((text, i) => {
      expect([text, ...tokenizer.encode(text, { addSpecialTokens: false })]).toEqual([text, ...ids[i]]);
    });
  });
});
