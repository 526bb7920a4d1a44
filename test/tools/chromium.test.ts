// The flags of every Chromium that tests and tools start.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { chromiumFlags } from '../../tools/lib/browser/chromium';

test('the list of disabled features, which replaces that of Playwright, has all of them', () => {
  const playwright = readFileSync(createRequire(import.meta.url).resolve('playwright-core/lib/coreBundle'), 'utf8');
  const list = playwright.match(/\bdisabledFeatures = \[(.*?)\]/s)?.[1] ?? '';
  const names = [...list.matchAll(/"(\w+)"/g)].map(([, name]) => name ?? '');
  const ofChromium = names.filter((name) => !name.startsWith('ms')); // those of Edge begin so
  expect(ofChromium.length).toBeGreaterThan(5);
  const [flag, ...more] = chromiumFlags({}, false).filter((flag) => flag.startsWith('--disable-features='));
  expect(more).toEqual([]);
  expect(flag?.split('=')[1]?.split(',')).toEqual(expect.arrayContaining(ofChromium));
});
