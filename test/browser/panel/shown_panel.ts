// The panel of the page, which comes late and is closed at first.

import type { Page } from 'playwright-core';

/** Waits for the panel's script, which comes after the first paint. Until then the panel misses answers. */
export const panelReady = (page: Page) => page.waitForFunction(() => customElements.get('vivace-metrics'));

export async function showPanel(page: Page): Promise<void> {
  await panelReady(page);
  const button = page.locator('#timing');
  if ((await button.isVisible()) && (await button.getAttribute('aria-expanded')) === 'false') await button.click();
}
