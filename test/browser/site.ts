// The shared parts of browser tests: the built page behind the project's own server, a Chromium, and records of
// forbidden events (errors on the console, requests to another host).

import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { launchChromium } from '../../tools/lib/browser/chromium';
import { DIST, ensureBuilt } from '../../tools/lib/bundle/dist';
import { type Handler, type Served, serve } from '../../tools/lib/serve';
import { chainModel } from '../chain/chain_model';

const ARTIFACTS = path.join(import.meta.dirname, 'artifacts');

export interface Site {
  url: string;
  browser: Browser;
  close(): Promise<void>;
}

/** The folder of the chain model, by path below the site. */
export function chainHandlers(): Record<string, Handler> {
  const answer = (bytes: Uint8Array): Handler => {
    const headers = { 'content-type': 'application/octet-stream', 'content-length': bytes.length };
    return (_request, response) => void response.writeHead(200, headers).end(bytes);
  };
  const files = Object.entries(chainModel()).map(([name, bytes]) => [`/chain/${name}`, answer(bytes)]);
  return Object.fromEntries(files);
}

/** Serves the built page, the chain model in the folder `chain/`, and what `handlers` answer. */
export async function openSite({
  handlers,
  folder = '',
  ...options
}: {
  webgpu?: boolean;
  handlers?: Record<string, Handler>;
  /** The page's folder on its host, such as 'vivace/'. */
  folder?: string;
} = {}): Promise<Site> {
  await ensureBuilt();
  const server: Served = await serve({
    mounts: { [`/${folder}`]: DIST },
    handlers: {
      ...chainHandlers(),
      ...handlers,
      '/page.gguf': (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title>');
      },
    },
  });
  const browser = await launchChromium(options);
  return {
    url: server.url + folder,
    browser,
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

export interface Visit {
  page: Page;
  /** Console errors and uncaught exceptions. */
  errors: string[];
  /** Addresses of other hosts that the page or its worker asked for. */
  strangers: string[];
}

const DESKTOP = { width: 1280, height: 800 };

/** Opens the page at an address such as '?backend=cpu', with fresh storage. */
export async function visit(site: Site, address = '', viewport = DESKTOP): Promise<Visit> {
  const context = await site.browser.newContext({ viewport });
  context.setDefaultTimeout(90_000);
  const page = await context.newPage();
  const errors: string[] = [];
  const strangers: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  context.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith('http') && host !== new URL(site.url).host) strangers.push(request.url());
  });
  await page.goto(site.url + address);
  return { page, errors, strangers };
}

/** Opens the panel beside the chat, or its drawer in a narrow window. */
export async function openPanel(page: Page): Promise<void> {
  const button = page.locator('#timing');
  if ((await button.getAttribute('aria-expanded')) === 'false') await button.click();
}

export const progress = (page: Page) => page.getByTestId('load-progress');
export const prompt = (page: Page) => page.getByTestId('prompt');
export const answers = (page: Page) => page.locator('[data-testid=message][data-role=assistant]');
export const lastAnswer = (page: Page) => answers(page).last();

/** The model is there: the examples can be clicked and a typed prompt can be sent. */
export async function ready(page: Page): Promise<void> {
  await prompt(page).fill('x');
  await expect.poll(() => page.getByTestId('send').isEnabled(), { timeout: 90_000 }).toBe(true);
  await prompt(page).fill('');
}

/** Sets a number of the settings, such as maxTokens; '' is the standard. */
export async function setting(page: Page, key: string, value: string): Promise<void> {
  await page.getByTestId('settings').click();
  await page.locator(`input#${key}`).fill(value);
  await page.keyboard.press('Escape');
}

export async function send(page: Page, text: string): Promise<void> {
  await prompt(page).fill(text);
  await page.getByTestId('send').click();
}

export const textOf = async (locator: Locator) => (await locator.textContent())?.trim() ?? '';
export const stateOf = (answer: Locator) => answer.getAttribute('data-state');

/** Waits for the first words of the newest answer. */
export async function begun(page: Page): Promise<void> {
  await expect
    .poll(async () => (await textOf(lastAnswer(page))).length, { timeout: 90_000, interval: 20 })
    .toBeGreaterThan(0);
}

/** Asks, waits for the first words, stops, and gives the state that the answer is in then. */
export async function sendAndStop(page: Page, text: string): Promise<string | null> {
  await send(page, text);
  await begun(page);
  await page.getByTestId('stop').click();
  return ended(page);
}

/** Waits for the end of the newest answer, until all its text is in the page. Gives the state in which it ended. */
export async function ended(page: Page, timeout = 100_000): Promise<string | null> {
  let state: string | null = null; // of the read that ended the wait: a second read may find the next answer
  const read = async () => {
    const answer = lastAnswer(page);
    const [now, busy] = await answer.evaluate((each) => [each.getAttribute('data-state'), each.ariaBusy]);
    state = now!;
    return [state === 'streaming', busy];
  };
  await expect.poll(read, { timeout, interval: 50 }).toEqual([false, 'false']);
  return state;
}

/** Kept in test/browser/artifacts/ for people to look at. */
export async function screenshot(page: Page, name: string): Promise<void> {
  await mkdir(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: path.join(ARTIFACTS, `${name}.png`), animations: 'disabled' });
}
