// Files that wait in the composer, read by a part of the page that may not come.

import { expect, test } from 'vitest';
import { ChatAttachments } from '../../../src/ui/chat/chat_attachments';

test('after files that could not be read, the next ones are attached', async () => {
  const attached = new ChatAttachments(() => {});
  await attached.add([], [], async () => {
    throw new TypeError('Failed to fetch dynamically imported module');
  });
  expect(attached.files).toEqual([]);
  expect(attached.complaint).toBe('Failed to fetch dynamically imported module');
  const notes = { name: 'notes.txt', text: 'bees' };
  await attached.add([], [], async () => ({ attachments: [notes], complaints: [] }));
  expect([attached.files, attached.complaint]).toEqual([[notes], '']);
});
