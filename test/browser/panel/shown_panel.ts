// Shows the panel of the page, where it is closed at first.

import type { Page } from 'playwright-core';

export async function showPanel(page: Page): Promise<void> {
  const button = page.locator('#timing');
  if ((await button.isVisible()) && (await button.getAttribute('aria-expanded')) === 'false') await button.click();
}
