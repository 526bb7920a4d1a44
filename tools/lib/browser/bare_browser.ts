// A page in a browser that nothing watches: a debugging protocol copies every byte that a page fetches, which doubles
// the time of a download. The page comes with its request, and sends its answer to the server it came from.

import { type ChildProcess, spawn } from 'node:child_process';
import { asciiJson } from '../../page/ascii_json';
import { ensureChromium } from '../ensure.mjs';
import type { Handler } from '../serve';
import { RunError } from './blank_page';
import { chromiumFlags } from './chromium';

/** The longest that a page may take. */
const PATIENCE_MS = 600_000;

export interface BareAnswers {
  /** To be served under these paths, beside the script and its files. */
  handlers: Record<string, Handler>;
  /**
   * The answer of the script to one request, in a fresh browser with this profile.
   * @throws RunError for a failure that the script reports, or where the browser ends without an answer
   */
  ask<Answer>(siteUrl: string, profile: string, webgpu: boolean, request: unknown): Promise<Answer>;
}

/** Ends a browser with all its processes, at once. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {} // it is gone
}

/** The page of `script`, a module that calls `answerTerminal`, for browsers that nothing watches. */
export function bareAnswers(script: string): BareAnswers {
  let asked: unknown = null;
  let answered: (text: string) => void = () => {};
  const page: Handler = (_request, response) => {
    const literal = JSON.stringify(asciiJson(asked)).replaceAll('<', '\\u003c');
    const html = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script type="module" src="${script}"></script>
<script type="module">
globalThis.vivaceTell = () => {};
await fetch('/bare-answer', { method: 'POST', body: await vivaceRun(${literal}) });
</script>`;
    response.writeHead(200, { 'content-type': 'text/html' }).end(html);
  };
  const answer: Handler = (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      response.writeHead(204).end();
      answered(Buffer.concat(parts).toString());
    });
  };
  return {
    handlers: { '/bare': page, '/bare-answer': answer },
    async ask<Answer>(siteUrl: string, profile: string, webgpu: boolean, request: unknown): Promise<Answer> {
      asked = request;
      const flags = ['--headless', `--user-data-dir=${profile}`, ...chromiumFlags(process.env, webgpu)];
      const address = new URL('bare', siteUrl).href;
      const browser = spawn(ensureChromium(), [...flags, address], { stdio: 'ignore', detached: true });
      const kill = () => killGroup(browser);
      process.on('exit', kill);
      const gone = new Promise<void>((resolve) => browser.once('exit', () => resolve()));
      try {
        const text = await new Promise<string>((resolve, reject) => {
          answered = resolve;
          const fail = (message: string) => reject(new RunError({ code: 'browser', message }));
          browser.once('error', ({ message }) => fail(message));
          browser.once('exit', (code) => fail(`The browser ended with ${code} before the page answered.`));
          setTimeout(() => fail(`The page did not answer within ${PATIENCE_MS / 1000} s.`), PATIENCE_MS).unref();
        });
        const { failure, ...rest } = JSON.parse(text);
        if (failure) throw new RunError(failure);
        return rest as Answer;
      } finally {
        browser.kill();
        await gone;
        process.off('exit', kill);
      }
    },
  };
}
