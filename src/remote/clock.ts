// Time as this room sees it. Tests bring a clock of their own.

export interface Clock {
  /** Milliseconds since `epochMs`, never backwards. */
  now(): number;
  /** The moment at which `now` was 0, in milliseconds since 1970. */
  readonly epochMs: number;
  /** Runs `action` after so many milliseconds. Returns a function that takes it back. */
  after(ms: number, action: () => void): () => void;
}

export const CLOCK: Clock = {
  now: () => performance.now(),
  epochMs: performance.timeOrigin,
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};
