// A gate for questions that wait while the engine has other work. Touches no DOM.

export class Gate {
  private readonly waiting = new Set<() => void>();

  /** Settles every wait of this moment. */
  open(): void {
    for (const pass of this.waiting) pass();
    this.waiting.clear();
  }

  /**
   * Settles at the next `open`.
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
