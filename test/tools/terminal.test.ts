// How the programs of the terminal end: a sentence for what the person can mend, and no work for a reader that left.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { UsageError } from '../../tools/lib/command_line/flags';
import { harmless, orUsage } from '../../tools/lib/command_line/terminal';

const listeners = process.stdout.listeners('error');
let exit: ReturnType<typeof vi.spyOn>;
let said: ReturnType<typeof vi.spyOn>;

beforeEach(() => {
  exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  said = vi.spyOn(console, 'error').mockImplementation(() => {});
});

afterEach(() => {
  process.exitCode = undefined;
  vi.restoreAllMocks();
  for (const listener of process.stdout.listeners('error'))
    if (!listeners.includes(listener)) process.stdout.off('error', listener as () => void);
});

test('a reader of a pipe that leaves ends the program', async () => {
  await orUsage('Usage', () => {
    process.stdout.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  });
  expect(exit).toHaveBeenCalledWith(1);
});

test('an error of the system or of a page is one sentence, one of the program comes with its place', async () => {
  const missing = Object.assign(new Error('ENOENT: no such file or directory'), { code: 'ENOENT' });
  await orUsage('Usage', () => Promise.reject(missing));
  expect(said.mock.calls).toEqual([['ENOENT: no such file or directory']]);
  expect(exit).toHaveBeenCalledWith(1);
  for (const own of [new TypeError('a bug'), Object.assign(new TypeError('a bug'), { code: 'ERR_INVALID_ARG_TYPE' })])
    await expect(orUsage('Usage', () => Promise.reject(own))).rejects.toBe(own);
});

test('a command line that cannot be understood is told with the usage', async () => {
  await orUsage('Usage: x', () => Promise.reject(new UsageError('--x is no flag.')));
  expect(said.mock.calls).toEqual([['--x is no flag.\nUsage: x']]);
  expect([process.exitCode, exit.mock.calls.length]).toEqual([2, 0]);
});

test('a terminal gets no control characters of a model, and a file all of them', () => {
  const text = 'a\tb\n\x1b]0;title\x07\x9b2Jé';
  expect(harmless(text, { isTTY: true })).toBe('a\tb\n\ufffd]0;title\ufffd\ufffd2Jé');
  expect(harmless(text, {})).toBe(text);
});
