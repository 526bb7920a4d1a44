// The panel without a browser: which runs it hands to the list of kept ones.

import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { tokenEvent } from '../events';

type Panel = HTMLElementTagNameMap['vivace-metrics'];

beforeAll(async () => {
  vi.stubGlobal('navigator', { platform: '' });
  await import('../../../src/metrics/panel/metrics_panel');
  vi.unstubAllGlobals();
});

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('IntersectionObserver', class {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A panel, and the runs that its list was given, by the texts of their tokens. */
function setUp() {
  const panel = new (customElements.get('vivace-metrics') as unknown as new () => Panel)();
  const kept: string[] = [];
  const keep = ({ tokens }: { tokens: { text: string }[] }) => kept.push(tokens.map(({ text }) => text).join(''));
  const list = { ask: () => {}, keep };
  Object.assign(panel, { renderRoot: { querySelector: () => list }, requestUpdate: () => {} });
  return { panel, kept };
}

test('a run is kept once, as it ends: the reader may have deleted it by the time of another end or load', async () => {
  const { panel, kept } = setUp();
  panel.reset();
  panel.record(tokenEvent({ text: 'whole' }));
  panel.end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(kept).toEqual(['whole']);
  panel.end(); // a question that was stopped while it waited for the tuner has no run
  panel.loaded();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(kept).toEqual(['whole']);

  panel.reset();
  panel.record(tokenEvent({ text: 'cut' }));
  panel.loaded();
  panel.end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(kept).toEqual(['whole', 'cut']);
});
