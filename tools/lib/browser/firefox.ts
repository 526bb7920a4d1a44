// A page in headless Firefox, which no library of ours drives: the browser is started with the page's address, and the
// page asks the server what to do, one request after another.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { asciiJson } from '../../page/ascii_json';
import { UsageError } from '../command_line/flags';
import type { Handler } from '../serve';
import { RunError } from './blank_page';

/** The longest that one answer may take. */
const PATIENCE_MS = 600_000;
/** WebGPU also where Firefox does not offer it yet, and on adapters in software. */
const PREFERENCES = { 'dom.webgpu.enabled': true, 'gfx.webgpu.ignore-blocklist': true };

export interface FirefoxPage {
  /** To be served under these paths, beside the script and its files. */
  handlers: Record<string, Handler>;
  /** Starts the browser. Returns a function that ends it. @throws UsageError where there is no such program */
  open(siteUrl: string, program: string): Promise<() => Promise<void>>;
  /** The answer of the script to one request. @throws RunError for a failure that the script reports */
  ask<Answer>(request: unknown): Promise<Answer>;
}

/** The page of `script`, a module that calls `answerTerminal`. */
export function firefoxPage(script: string): FirefoxPage {
  let waiting: ServerResponse | null = null;
  let asked: string | null = null;
  let answered: (text: string) => void = () => {};
  let failed: (error: Error) => void = () => {};
  /** The end of the browser, which may come before the first request. */
  let end: Error | null = null;
  const send = () => {
    if (!waiting || asked === null) return;
    waiting.writeHead(200, { 'content-type': 'application/json' }).end(asked);
    waiting = null;
    asked = null;
  };
  const html = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script type="module" src="${script}"></script>
<script type="module">
globalThis.vivaceTell = () => {};
for (;;) {
  const request = await (await fetch('/asked')).text();
  await fetch('/answered', { method: 'POST', body: await vivaceRun(request) });
}
</script>`;
  return {
    handlers: {
      '/': (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(html),
      '/asked'(_request, response) {
        waiting = response;
        send();
      },
      '/answered'(request, response) {
        const parts: Buffer[] = [];
        request.on('data', (part: Buffer) => parts.push(part));
        request.on('end', () => {
          response.writeHead(204).end();
          answered(Buffer.concat(parts).toString());
        });
      },
    },
    async open(siteUrl, program) {
      if (!existsSync(program)) throw new UsageError(`--firefox ${program}: there is no such file.`);
      const profile = await mkdtemp(path.join(tmpdir(), 'vivace-firefox-'));
      const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref("${name}", ${value});`);
      await writeFile(path.join(profile, 'user.js'), lines.join('\n'));
      const browser = spawn(program, ['--headless', '--no-remote', '--profile', profile, siteUrl], { stdio: 'ignore' });
      const gone = new Promise<void>((resolve) => browser.once('exit', () => resolve()));
      const fail = (message: string) => {
        end = new RunError({ code: 'browser', message });
        failed(end);
      };
      browser.once('error', ({ message }) => fail(message));
      browser.once('exit', (code) => fail(`Firefox ended with ${code} before the page answered.`));
      return async () => {
        browser.kill();
        await gone;
        await rm(profile, { recursive: true, force: true });
      };
    },
    async ask<Answer>(request: unknown): Promise<Answer> {
      const text = await new Promise<string>((resolve, reject) => {
        answered = resolve;
        failed = reject;
        if (end) return reject(end);
        asked = asciiJson(request);
        send();
        const late = `The page did not answer within ${PATIENCE_MS / 1000} s.`;
        setTimeout(() => reject(new RunError({ code: 'browser', message: late })), PATIENCE_MS).unref();
      });
      const { failure, ...rest } = JSON.parse(text);
      if (failure) throw new RunError(failure);
      return rest as Answer;
    },
  };
}
