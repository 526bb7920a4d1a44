// Redraws an element of the page at each change of the offers that it shows.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Offers } from './offers';

/** Listens from the first drawing with offers until the element leaves the page. */
export class FollowOffers implements ReactiveController {
  private stop: (() => void) | null = null;

  constructor(
    private readonly host: ReactiveControllerHost & { readonly offers: Offers | null },
    private readonly redraw = () => host.requestUpdate(),
  ) {
    host.addController(this);
  }

  hostUpdate(): void {
    this.stop ??= this.host.offers?.onChange(this.redraw) ?? null;
  }

  hostDisconnected(): void {
    this.stop?.();
    this.stop = null;
  }
}
