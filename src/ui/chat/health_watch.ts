// Follows the health of an element's engine while the element is on the page.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { ChatEngine } from '../../engine/engine';

interface Host extends Pick<ReactiveControllerHost, 'addController'> {
  readonly engine: ChatEngine | null;
}

export class HealthWatch implements ReactiveController {
  private followed: ChatEngine | null = null;
  private stop = () => {};

  /** Calls `onHealth` after each change of the health of the host's engine. */
  constructor(
    private readonly host: Host,
    private readonly onHealth: () => void,
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    this.follow(this.host.engine);
  }

  hostUpdated(): void {
    this.follow(this.host.engine);
  }

  hostDisconnected(): void {
    this.follow(null);
  }

  private follow(engine: ChatEngine | null): void {
    if (engine === this.followed) return;
    this.stop();
    this.followed = engine;
    this.stop = engine?.onHealth(this.onHealth) ?? (() => {});
  }
}
