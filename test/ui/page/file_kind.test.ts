// The kinds of opened or dropped files.

import { expect, test } from 'vitest';
import { exportConversations } from '../../../src/ui/conversation/conversation_file';
import { addTurn, newConversation } from '../../../src/ui/conversation/conversation_tree';
import { kindOf } from '../../../src/ui/page/file_kind';

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const { conversation } = addTurn(newConversation(), null, 'Why?');
const exported = new File([exportConversations([conversation])], 'vivace.json', { type: 'application/json' });
const bare = new File([JSON.stringify(conversation, null, 2)], 'one.json');
const gguf = new File(['GGUF\u0003'], 'm.gguf');
const config = new File(['{"model_type":"llama"}'], 'config.json');
const weights = new File(['x'], 'model.safetensors');

test('a .gguf file or a folder with config.json is a model, whatever lies beside it', async () => {
  for (const files of [[gguf], [gguf, exported], [config, weights, exported], [config]]) {
    expect(await kindOf(files)).toEqual({ kind: 'model', files });
  }
});

test('exported files are conversations, alone or among other files', async () => {
  expect(await kindOf([exported])).toEqual({ kind: 'conversations', files: [exported] });
  const photo = new File([PNG], 'photo.png');
  expect(await kindOf([photo, bare, exported])).toEqual({ kind: 'conversations', files: [bare, exported] });
});

test('an exported run is one, also where it was cut: whoever reads it says so', async () => {
  const run = new File(['{"format":"vivace-run","version":1,"id":'], 'run.json');
  expect(await kindOf([run, new File(['a,b'], 'run.csv')])).toEqual({ kind: 'runs', files: [run] });
  // Beside conversations it is imported with them, which tells where it belongs.
  expect(await kindOf([run, exported])).toEqual({ kind: 'conversations', files: [exported, run] });
});

for (const [what, files, pattern] of [
  [
    'a picture',
    [new File([PNG], 'photo.png')],
    /“photo\.png” isn’t a text file, a model or an exported conversation\. A model is/,
  ],
  ['two pictures', [new File([PNG], 'a.png'), new File([PNG], 'b.png')], /“a\.png” and the other files/],
  ['other JSON', [new File(['{"vocab":{}}'], 'tokenizer.json'), weights], /“tokenizer\.json” and the other files/],
  [
    'a page of HTML named .gguf',
    [new File(['<!doctype html>'], 'm.gguf')],
    /isn’t a valid GGUF file\. It may be incomplete: download/,
  ],
  ['an empty .gguf file', [new File([], 'm.gguf')], /isn’t a valid GGUF file/],
  ['an empty folder', [], /Nothing in there can be read/],
] as const) {
  test(`${what} is neither, with a reason`, async () => {
    expect(await kindOf(files)).toEqual({ kind: 'neither', complaint: expect.stringMatching(pattern) });
  });
}

test('text is for a question, and the complaint is for those who wanted a model', async () => {
  const notes = new File(['milk, bread'], 'notes.txt');
  const umlauts = new File(['ä'.repeat(1_000)], 'ä.md'); // the last letter of the head is cut
  const table = new File(['{"a":1}'], 'table.json');
  const empty = new File([], 'empty.txt'); // the field says that it is empty
  for (const files of [[notes], [umlauts], [empty], [table, notes], [new File([PNG], 'photo.png'), notes]]) {
    expect(await kindOf(files)).toEqual({ kind: 'texts', files, complaint: expect.stringMatching(/A model is a/) });
  }
  const config = new File(['{}'], 'tokenizer.json');
  expect((await kindOf([config, weights])).kind).toBe('neither'); // a part of a model
  expect((await kindOf([new File(['a\0b'], 'data.bin')])).kind).toBe('neither');
});

test('only the first bytes of a file are read, and not all of a thousand files', async () => {
  let read = 0;
  const huge = Array.from({ length: 1000 }, (_, i) => {
    const file = new File(['{}'], `${i}.json`);
    file.slice = (start = 0, end = Number.POSITIVE_INFINITY) => {
      read += end - start;
      return new Blob(['{}']);
    };
    return file;
  });
  expect((await kindOf(huge)).kind).toBe('neither');
  expect(read).toBeLessThan(64 * 1024);
});

test('too many texts for a question are told as such, with both numbers and what to do', async () => {
  const files = Array.from({ length: 70 }, (_, i) => new File(['milk'], `${i}.txt`));
  expect(await kindOf(files, true)).toEqual({
    kind: 'neither',
    complaint: expect.stringMatching(
      /^These are 70 files, and a message takes 10 at most\. Choose up to 10 text files/,
    ),
  });
  expect(await kindOf(files.slice(0, 64), true)).toMatchObject({ kind: 'texts', files: files.slice(0, 64) });
  const pictures = files.map(({ name }) => new File([PNG], name.replace('txt', 'png')));
  for (const [asked, attaches] of [
    [files, false], // for a model
    [pictures, true],
  ] as const)
    expect(await kindOf(asked, attaches)).toMatchObject({
      complaint: expect.stringMatching(/other files aren’t a model/),
    });
});

test('every one of many exports is imported, also beside other files', async () => {
  const all = Array.from({ length: 70 }, (_, i) => new File([exportConversations([conversation])], `${i}.json`));
  const other = new File(['{}'], 'other.json');
  expect(await kindOf([...all.slice(0, 3), other, ...all.slice(3)])).toEqual({ kind: 'conversations', files: all });
});
