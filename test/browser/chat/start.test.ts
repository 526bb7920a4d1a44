// `npm start` as a newcomer runs it: one line with the address, a page behind it, byte ranges for the model, a clean
// end. Also the README's tag on a page of another origin, from the built page's server and from the dev server.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { launchChromium } from '../../../tools/lib/browser/chromium';
import { ROOT } from '../../../tools/lib/ensure.mjs';
import { serve } from '../../../tools/lib/serve';
import { ready } from '../site';

/** Starts the server with these flags, and gives what it said when that is its address. */
async function start(...flags: string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [path.join(ROOT, 'tools/start.mjs'), ...flags]);
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  try {
    await expect.poll(() => said, { timeout: 90_000 }).toMatch(/^Vivace: http:\/\/localhost:\d+\/\n$/);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { child, url: said.replace('Vivace: ', '').trim() };
}

test('npm start prints its address, serves the page and the model, and ends on Ctrl-C', async () => {
  const { child, url } = await start('--port', '39617');
  try {
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

test("the README's tag works on a page of another origin, from both servers", async () => {
  const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
  const tag = readme.match(/<script src="[^"]*embed\.js"[^>]*><\/script>/)?.[0] ?? '';
  const [servers, browser] = await Promise.all([
    Promise.all([start('--port', '39637'), start('--port', '39657', '--dev')]),
    launchChromium({ webgpu: false }),
  ]);
  try {
    for (const { url } of servers) {
      const body = `<link rel="icon" href="data:,"><h1>Host</h1>${tag.replace(/src="[^"]*"/, `src="${url}embed.js"`)}`;
      const host = await serve({
        mounts: {},
        handlers: { '/': (_, response) => response.end(`<!doctype html>${body}`) },
      });
      const page = await browser.newPage();
      page.setDefaultTimeout(90_000);
      const said: string[] = [];
      page.on('console', (message) => said.push(message.text()));
      page.on('pageerror', (error) => said.push(error.message));
      await page.goto(host.url);
      await page.getByTestId('launcher').click();
      await ready(page);
      await page.waitForFunction(() => customElements.get('vivace-metrics'));
      expect(new URL(page.url()).origin).not.toBe(new URL(url).origin);
      expect(said).toEqual([]);
      await page.close();
      await host.close();
    }
  } finally {
    for (const { child } of servers) child.kill('SIGKILL');
    await browser.close();
  }
});
