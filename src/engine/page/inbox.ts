/** Messages in order, taken by the one who waits for them. The first end or error is the last that comes. */
export class Inbox<T> {
  private readonly messages: T[] = [];
  /** What comes after the messages: an error, or the end without one. */
  private last: { error: unknown } | 'end' | null = null;
  private wake: (() => void) | null = null;

  put(message: T): void {
    if (this.last === null) this.messages.push(message);
    this.wake?.();
  }

  fail(error: unknown): void {
    this.last ??= { error };
    this.wake?.();
  }

  end(): void {
    this.last ??= 'end';
    this.wake?.();
  }

  /** The next message; undefined at the end. @throws the error, after the messages before it */
  async take(): Promise<T | undefined> {
    while (this.messages.length === 0 && this.last === null) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    if (this.messages.length === 0 && this.last !== 'end') throw this.last?.error;
    return this.messages.shift();
  }
}
