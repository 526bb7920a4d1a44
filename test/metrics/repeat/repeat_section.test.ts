// The section of repeated runs without a browser: what its series are called.

import { beforeAll, expect, test, vi } from 'vitest';
import type { Engine } from '../../../src/engine/engine';
import type { RunData } from '../../../src/metrics/run/run_data';
import { info } from '../../engine/doubles/heard_run';
import { fullRun } from '../run/full_run';

type Section = HTMLElementTagNameMap['vivace-repeat'];

beforeAll(async () => {
  vi.stubGlobal('navigator', { platform: '' });
  await import('../../../src/metrics/repeat/repeat_section');
  vi.unstubAllGlobals();
});

test('a series has the settings that it ran with, not those of the run that it repeats', async () => {
  const section = new (customElements.get('vivace-repeat') as unknown as new () => Section)();
  const metrics = { decodeTokensPerSecond: 9, prefillTokensPerSecond: 9, ttftMs: 1 };
  const complete = async function* () {
    yield { type: 'done', metrics: { ...metrics, tbtMs: { p50: 1, p99: 2, perToken: [1] } } };
  };
  const reloaded = { ...info, attention: { ...info.attention, decode: 'eager' } };
  Object.assign(section, { engine: { info: reloaded, complete } as unknown as Engine, run: fullRun() as RunData });
  await (section as unknown as { start(): Promise<void> }).start();
  expect(section.series).toMatchObject([{ label: expect.stringMatching(/^eager, /) }]);
});
