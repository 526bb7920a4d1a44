// A folder that goes with the work in it, or with the program.

import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { inTemporaryFolder } from '../../tools/lib/temporary_folder';

afterEach(() => vi.restoreAllMocks());

/** The listeners of an event of the process that come with `work`. */
async function listenersOf(event: 'exit' | 'SIGINT', work: (listeners: () => (() => void)[]) => Promise<void>) {
  const before = process.listeners(event as 'exit');
  const now = () => process.listeners(event as 'exit').filter((each) => !before.includes(each)) as (() => void)[];
  await work(now);
  expect(now()).toEqual([]);
}

test('the folder is gone after the work, whether it fails or not', async () => {
  const folders: string[] = [];
  const fill = (folder: string) => {
    folders.push(folder);
    writeFileSync(path.join(folder, 'model'), 'x');
  };
  expect(await inTemporaryFolder('vivace-test-', async (folder) => fill(folder))).toBeUndefined();
  const fails = inTemporaryFolder('vivace-test-', async (folder) => {
    fill(folder);
    throw new Error('no');
  });
  await expect(fails).rejects.toThrow('no');
  expect(folders.map((folder) => existsSync(folder))).toEqual([false, false]);
});

test('the folder is gone when the program exits in the middle of the work', () =>
  listenersOf('exit', (listeners) =>
    inTemporaryFolder('vivace-test-', async (folder) => {
      for (const listener of listeners()) listener();
      expect(existsSync(folder)).toBe(false);
    }),
  ));

test('Ctrl-C exits, which removes the folder, unless somebody else ends the program in order', () =>
  listenersOf('SIGINT', (listeners) =>
    inTemporaryFolder('vivace-test-', async () => {
      const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
      const count = vi.spyOn(process, 'listenerCount').mockReturnValue(2);
      for (const listener of listeners()) listener();
      expect(exit).not.toHaveBeenCalled();
      count.mockReturnValue(1);
      for (const listener of listeners()) listener();
      expect(exit).toHaveBeenCalledWith(130);
    }),
  ));
