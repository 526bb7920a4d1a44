// `npm start` as a newcomer runs it: one line with the address, a page behind it, byte ranges for the model, a clean end.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../../tools/lib/ensure.mjs';

test('npm start prints its address, serves the page and the model, and ends on Ctrl-C', async () => {
  const child = spawn(process.execPath, [path.join(ROOT, 'tools/start.mjs'), '--port', '39617']);
  try {
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    await expect.poll(() => said, { timeout: 60_000 }).toMatch(/^Vivace: http:\/\/localhost:\d+\/\n$/);
    const url = said.replace('Vivace: ', '').trim();
    expect(await (await fetch(url)).text()).toContain('<title>Vivace</title>');
    const model = new URL('models/storyteller/storyteller-q8_0.gguf', url);
    const part = await fetch(model, { headers: { range: 'bytes=0-3' } });
    expect([part.status, await part.text()]).toEqual([206, 'GGUF']);
    child.kill('SIGINT');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
  } finally {
    child.kill('SIGKILL');
  }
});
