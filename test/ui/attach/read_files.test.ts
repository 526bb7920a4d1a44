// Which files are taken as text, and what is said of the others.

import { expect, test } from 'vitest';
import { readFiles } from '../../../src/ui/attach/read_files';

const ROOM = 8_000_000;
const file = (name: string, ...parts: (string | Uint8Array<ArrayBuffer>)[]) => new File(parts, name);
const read = (files: File[], before: { name: string; text: string }[] = [], room = ROOM) =>
  readFiles(files, before, room);

test('plain text is taken whatever its name, without a mark of byte order', async () => {
  const files = [
    file('notes.md', '# Notes\n'),
    file('table.csv', 'a,b\r\n1,2'),
    file('Makefile', 'all:\n\techo'),
    file('日本.txt', '\ufeff猫'),
  ];
  expect(await read(files)).toEqual({
    attachments: [
      { name: 'notes.md', text: '# Notes\n' },
      { name: 'table.csv', text: 'a,b\r\n1,2' },
      { name: 'Makefile', text: 'all:\n\techo' },
      { name: '日本.txt', text: '猫' },
    ],
    complaints: [],
  });
});

test.each([
  ['a picture', file('photo.png', new Uint8Array([0x89, 0x50, 0x4e, 0x47])), /^“photo\.png” is not a text file/],
  ['text with zeros', file('a.txt', 'a\0b'), /is not a text file/],
  ['UTF-16', file('a.txt', new Uint8Array([0xff, 0xfe, 0x61, 0])), /is not a text file/],
  ['an empty file', file('a.txt', ' \n'), /^“a\.txt” is empty/],
  ['a large file', file('a.txt', 'x'.repeat(1_000_001)), /^“a\.txt” is too large: 1\.0 MB\. /],
] as const)('%s is left out with a sentence, and the others are taken', async (_, wrong, complaint) => {
  const { attachments, complaints } = await read([wrong, file('b.txt', 'b')]);
  expect(attachments).toEqual([{ name: 'b.txt', text: 'b' }]);
  expect(complaints).toEqual([expect.stringMatching(complaint)]);
});

test('ten files and two megabytes are the most of one question', async () => {
  const many = Array.from({ length: 12 }, (_, i) => file(`${i}.txt`, 'x'));
  const { attachments, complaints } = await read(many, [{ name: 'before', text: 'x' }]);
  expect([attachments.length, complaints]).toEqual([9, ['A message takes 10 files at most.']]);
  const large = Array.from({ length: 3 }, (_, i) => file(`${i}.txt`, 'x'.repeat(900_000)));
  const some = await read(large);
  expect([some.attachments.length, some.complaints]).toEqual([
    2,
    ['“2.txt” was left out: the files of one message may have 2.0 MB together.'],
  ]);
});

test('a large file is never read, and one that cannot be read is left out', async () => {
  const huge = Object.assign(file('a.txt', 'x'), { arrayBuffer: () => expect.unreachable() });
  Object.defineProperty(huge, 'size', { value: 5e9 });
  expect((await read([huge])).complaints).toEqual([expect.stringContaining('5.0 GB')]);
  const gone = Object.assign(file('a.txt', 'x'), { arrayBuffer: () => Promise.reject(new Error('gone')) });
  expect((await read([gone])).complaints).toEqual(['“a.txt” could not be read.']);
});

test('a conversation that is nearly as long as a stored one may be takes no files', async () => {
  expect(await read([file('a.txt', 'x')], [], 1_000_000)).toEqual({
    attachments: [],
    complaints: [expect.stringContaining('no room for more files')],
  });
});

test('a name is one line without signs that nobody sees', async () => {
  const [named, nameless] = (await read([file('a\u202eb`\n.txt', 'x'), file('\u200b', 'x')])).attachments;
  expect([named.name, nameless.name]).toEqual(['ab.txt', 'file']);
  expect((await read([file('x'.repeat(500), 'x')])).attachments[0].name).toHaveLength(200);
});
