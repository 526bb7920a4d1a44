// A gate that questions wait at while the engine is busy with something else. No DOM.

export class Gate {
  private readonly waiting = new Set<() => void>();

  /** Lets everybody through who waits now. */
  open(): void {
    for (const pass of this.waiting) pass();
    this.waiting.clear();
  }

  /**
   * Settles when the gate is opened next.
   * @throws the signal's reason when it aborts before that
   */
  pass(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const giveUp = () => {
        this.waiting.delete(pass);
        reject(signal.reason);
      };
      const pass = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      this.waiting.add(pass);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}
