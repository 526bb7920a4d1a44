// Conversations and tools from files: the engine's form, OpenAI's, and files that are neither.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConversation, readToolList } from '../../tools/lib/generate/conversation_files';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'vivace-files-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(content: unknown): string {
  const at = path.join(folder, 'file.json');
  writeFileSync(at, typeof content === 'string' ? content : JSON.stringify(content));
  return at;
}

const OWN = [
  { role: 'user', content: 'How warm is it?' },
  { role: 'assistant', content: '', reasoning: 'Hm.', toolCalls: [{ id: 'a', name: 'weather', arguments: '{}' }] },
  { role: 'tool', content: '7', toolCallId: 'a' },
];

test("messages in the engine's form and in OpenAI's are the same", () => {
  const call = { id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } };
  const wire = [
    { role: 'user', content: [{ type: 'text', text: 'How warm is it?' }] },
    { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: [call] },
    { role: 'tool', content: '7', tool_call_id: 'a' },
  ];
  expect(readConversation(file(OWN))).toEqual(OWN);
  expect(readConversation(file(wire))).toEqual(OWN);
});

test('a byte order mark is no part of a file', () => {
  expect(readConversation(file(`\ufeff${JSON.stringify(OWN)}`))).toEqual(OWN);
});

test("tools in the engine's form and in OpenAI's are the same", () => {
  const tool = { name: 'weather', description: 'Of a city.', parameters: { type: 'object' } };
  expect(readToolList(file([tool]))).toEqual([tool]);
  expect(readToolList(file([{ type: 'function', function: tool }]))).toEqual([tool]);
});

test.each([
  ['no JSON', '[{', /--messages .*file\.json: .*JSON/],
  ['one message', OWN[0], /--messages .*must hold a JSON list of objects/],
  ['a list of texts', ['hello'], /must hold a JSON list of objects/],
  ['an unknown role', [{ role: 'robot', content: 'x' }], /messages\[0\]\.role must be one of/],
])('a file with %s is refused with its name or place', (_, content, complaint) => {
  expect(() => readConversation(file(content))).toThrow(complaint);
});

test('a missing file is refused', () => {
  expect(() => readToolList(path.join(folder, 'none.json'))).toThrow(/--tools .*no such file/);
});
