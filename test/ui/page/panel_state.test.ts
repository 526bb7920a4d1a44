// The stored place of the panel: read back, checked, and fitted into the window.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CLOSED, fitWidth, LEAST_WIDTH, mostWidth, parsePanelState } from '../../../src/ui/page/panel_state';

test('what was left comes back', () => {
  expect(parsePanelState('{"isOpen":true,"width":512}')).toEqual({ isOpen: true, width: 512 });
});

test('nothing stored, or nothing that can be read, is a closed panel', () => {
  for (const text of [null, '', '{', 'null', '[]', '{"isOpen":1}', `{"isOpen":true,"x":"${'x'.repeat(300)}"}`]) {
    expect(parsePanelState(text), String(text)).toEqual(CLOSED);
  }
});

test('whatever is stored, the panel has a width that a window can show', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), fc.integer({ min: 200, max: 6000 }), (width, isOpen, windowWidth) => {
      const state = parsePanelState(JSON.stringify({ isOpen, width }));
      const fitted = fitWidth(state.width, windowWidth);
      expect(Number.isInteger(fitted)).toBe(true);
      expect(fitted).toBeGreaterThanOrEqual(LEAST_WIDTH);
      expect(fitted).toBeLessThanOrEqual(mostWidth(windowWidth));
    }),
  );
});

test('in a window of 960 pixels the list, the chat and the panel fit side by side', () => {
  expect(960 - mostWidth(960) - 220).toBeGreaterThan(380);
});
