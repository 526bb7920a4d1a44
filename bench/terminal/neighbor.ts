// Opens and closes the page beside the one that is measured, when that one asks for it.

import type { Browser, Page } from 'playwright-core';
import { askPage } from '../../tools/lib/browser/blank_page';
import type { Neighbor } from '../report';

/** Gives the page the function `vivaceNeighbor`: true opens the neighbor, false ends it and brings what it did. */
export async function offerNeighbor(page: Page, browser: Browser, url: string): Promise<void> {
  let neighbor: Awaited<ReturnType<typeof openNeighbor>> | null = null;
  await page.exposeFunction('vivaceNeighbor', async (busy: boolean) => {
    if (busy) {
      neighbor = await openNeighbor(browser, url);
      return null;
    }
    const told = await neighbor?.end();
    neighbor = null;
    return told ?? null;
  });
}

/** Resolves when the neighbor keeps the GPU busy. */
async function openNeighbor(browser: Browser, url: string): Promise<{ end: () => Promise<Neighbor> }> {
  const page = await browser.newPage();
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  await page.exposeFunction('vivaceTell', () => begin());
  await page.goto(url);
  const answer = askPage<{ neighbor: Neighbor }>(page, { suite: 'neighbor' });
  answer.catch(() => {}); // `end` reports it
  await Promise.race([begun, answer]);
  return {
    async end() {
      await page.evaluate('vivaceStop.abort()');
      const { neighbor } = await answer;
      await page.close();
      return neighbor;
    },
  };
}
