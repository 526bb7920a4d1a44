// The pause of a worker whose page is hidden on a phone: requests queue nothing new until its end.

export class Pause {
  /** True while nothing may be queued. */
  isOn = false;
  private wakes: (() => void)[] = [];

  set(isOn: boolean): void {
    this.isOn = isOn;
    this.wake();
  }

  /** Makes waiting requests look again whether they have been stopped. */
  wake(): void {
    for (const wake of this.wakes.splice(0)) wake();
  }

  /** Resolves at the end of the pause or once `stopped` turns true, with what `stopped` says. */
  async over(stopped: () => boolean): Promise<boolean> {
    while (this.isOn && !stopped()) await new Promise<void>((resolve) => this.wakes.push(resolve));
    return stopped();
  }
}
