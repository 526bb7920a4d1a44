// The controller that redraws an element when its offers change.

import { expect, test, vi } from 'vitest';
import { FollowOffers } from '../../../src/ui/catalogue/follow_offers';
import type { Offers } from '../../../src/ui/catalogue/offers';

/** Offers of which only the listeners are asked. */
function someOffers() {
  const listeners = new Set<() => void>();
  const onChange = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return { offers: { onChange } as unknown as Offers, listeners };
}

function someHost(offers: Offers | null) {
  return {
    offers,
    addController: vi.fn(),
    removeController: vi.fn(),
    requestUpdate: vi.fn(),
    updateComplete: Promise.resolve(true),
  };
}

test('it listens once, from the first drawing with offers until its element leaves, and again when it comes back', () => {
  const { offers, listeners } = someOffers();
  const host = someHost(null);
  const follow = new FollowOffers(host);
  expect(host.addController).toHaveBeenCalledWith(follow);
  follow.hostUpdate();
  expect(listeners.size).toBe(0); // no offers yet

  host.offers = offers;
  follow.hostUpdate();
  follow.hostUpdate();
  expect(listeners.size).toBe(1);
  for (const listener of listeners) listener();
  expect(host.requestUpdate).toHaveBeenCalledTimes(1);

  follow.hostDisconnected();
  expect(listeners.size).toBe(0);
  follow.hostUpdate();
  expect(listeners.size).toBe(1);
});

test('an element may redraw more than itself', () => {
  const { offers, listeners } = someOffers();
  const host = someHost(offers);
  const redraw = vi.fn();
  new FollowOffers(host, redraw).hostUpdate();
  for (const listener of listeners) listener();
  expect(redraw).toHaveBeenCalledTimes(1);
  expect(host.requestUpdate).not.toHaveBeenCalled();
});
