// Addresses on their way from a page to its worker.

import { afterEach, expect, test, vi } from 'vitest';
import { absolute } from '../../../../src/engine/page/host/connection';

afterEach(() => vi.unstubAllGlobals());

test('an address is made whole with the page, and a blank one is left for the worker to refuse', () => {
  vi.stubGlobal('document', { baseURI: 'https://example.com/chat/' });
  expect(absolute('../m.gguf')).toBe('https://example.com/m.gguf');
  expect(absolute('hf:owner/repo')).toBe('hf:owner/repo');
  for (const blank of ['', '   ', '\t\n']) expect(absolute(blank)).toBe(blank);
});
