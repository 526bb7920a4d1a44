// The work of a page's main thread, as the browser counts it.

import type { Page } from 'playwright-core';

/** Gives the page the function `vivaceTaskMs`: milliseconds that its main thread has spent in tasks so far. */
export async function offerMainThread(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await page.exposeFunction('vivaceTaskMs', async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    const spent = metrics.find(({ name }) => name === 'TaskDuration');
    if (!spent) throw new Error('This browser does not tell the time of tasks.');
    return 1000 * spent.value;
  });
}
