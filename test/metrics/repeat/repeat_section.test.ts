// The section of repeated runs without a browser: what its series are called, and why nothing can be repeated.

import { beforeAll, expect, test, vi } from 'vitest';
import type { Engine } from '../../../src/engine/engine';
import type { RunData } from '../../../src/metrics/run/run_data';
import { RunRecord } from '../../../src/metrics/run/run_record';
import { info } from '../../engine/doubles/heard_run';
import { fullRun } from '../run/full_run';

type Section = HTMLElementTagNameMap['vivace-repeat'];

const newSection = () => new (customElements.get('vivace-repeat') as unknown as new () => Section)();

beforeAll(async () => {
  vi.stubGlobal('navigator', { platform: '' });
  await import('../../../src/metrics/repeat/repeat_section');
  vi.unstubAllGlobals();
});

test('a series has the settings that it ran with, not those of the run that it repeats', async () => {
  const section = newSection();
  const metrics = { decodeTokensPerSecond: 9, prefillTokensPerSecond: 9, ttftMs: 1 };
  const complete = async function* () {
    yield { type: 'done', metrics: { ...metrics, tbtMs: { p50: 1, p99: 2, perToken: [1] } } };
  };
  const reloaded = { ...info, attention: { ...info.attention, decode: 'eager' } };
  Object.assign(section, { engine: { info: reloaded, complete } as unknown as Engine, run: fullRun() as RunData });
  await (section as unknown as { start(): Promise<void> }).start();
  expect(section.series).toMatchObject([{ label: expect.stringMatching(/^eager, /) }]);
});

test('a run that waits for its first answer asks for a message, and a run in progress for patience', () => {
  const run = new RunRecord({ info, now: () => 0, onPaint: () => {} });
  const section = Object.assign(newSection(), { engine: { info } as unknown as Engine, run: run as RunData });
  const whyNot = () => (section as unknown as { whyNot(): string | null }).whyNot();
  expect(whyNot()).toBe('Send a message first: its run is what is repeated.');
  run.record({ type: 'start', choice: 0, promptIds: [1, 2], cachedTokens: 0 });
  expect(whyNot()).toBe('Wait until the answer has ended: its run is what is repeated.');
});
