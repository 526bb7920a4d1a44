// Model folders of this repository pass the strict parsers.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openModel } from '../../src/storage/model_file';

// The model folders written by training and by the reference scripts.
const root = fileURLToPath(new URL('../..', import.meta.url));
const STORYTELLER = join(root, 'public/models/storyteller');
const FIXTURES = join(root, 'test/fixtures/llama');

function modelFolders(): string[] {
  if (!existsSync(FIXTURES)) return [];
  const inside = readdirSync(FIXTURES).map((name) => join(FIXTURES, name));
  return [FIXTURES, ...inside].filter((path) => existsSync(join(path, 'config.json')));
}

async function openFolder(path: string) {
  const names = readdirSync(path).filter((name) => statSync(join(path, name)).isFile());
  const model = await openModel(names.map((name) => new File([readFileSync(join(path, name))], name)));
  expect(model.tensors.size).toBeGreaterThan(0);
  for (const tensor of model.tensors.values()) {
    expect(await tensor.read(0, tensor.byteLength)).toHaveLength(tensor.byteLength);
  }
  return model;
}

describe('files of this repository', () => {
  const storytellerIsThere = existsSync(join(STORYTELLER, 'config.json'));
  test.skipIf(!storytellerIsThere)(`storyteller${storytellerIsThere ? '' : ' (skipped: not built yet)'}`, async () => {
    const model = await openFolder(STORYTELLER);
    expect(model.tokenizerJson ?? model.gguf?.get('tokenizer.ggml.tokens')).toBeTruthy();
  });

  const folders = modelFolders();
  if (folders.length === 0) test.skip('llama fixtures (skipped: none here)', () => {});
  for (const path of folders) {
    test(`fixture ${basename(path)}`, async () => {
      expect((await openFolder(path)).config).not.toBeNull();
    });
  }
});
