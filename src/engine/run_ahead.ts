import { InvalidRequestError } from '../errors';

/** Work to keep queued: a finished readback reaches the page up to 3 ms late in Chromium, and half again. */
const QUEUED_MS = 4.5;
/** The most that a stop may have to wait for. */
const STOP_LATENCY_MS = 50;
const START_DEPTH = 2;
/** Tokens that one estimate of the step time looks back on: arrivals come in bursts, their mean does not. */
const WINDOW = 32;

/**
 * How many steps to keep in flight, the one being read among them: a span of time, not a count. `auto` follows the mean
 * gap of the newest arrivals; a number stays as it is, and 1 makes the GPU wait for the CPU at every token.
 */
export class RunAhead {
  depth: number;
  private readonly arrivals: number[] = [];

  constructor(
    private readonly asked: 'auto' | number,
    private readonly most: number,
  ) {
    if (asked !== 'auto' && (!Number.isInteger(asked) || asked < 1 || asked > most)) {
      throw new InvalidRequestError(
        `runAhead must be "auto" or a whole number from 1 to ${most}, got ${String(asked)}.`,
      );
    }
    this.depth = asked === 'auto' ? Math.min(START_DEPTH, most) : asked;
  }

  /** A token arrived; `now` in milliseconds. */
  arrived(now: number): void {
    if (this.asked !== 'auto') return;
    const { arrivals } = this;
    arrivals.push(now);
    if (arrivals.length > WINDOW) arrivals.shift();
    const stepMs = (now - arrivals[0]) / (arrivals.length - 1);
    if (!(stepMs > 0)) return; // the first arrival, or a burst within one tick of the clock
    const wanted = Math.max(START_DEPTH, Math.ceil(QUEUED_MS / stepMs));
    const allowed = Math.max(1, Math.floor(STOP_LATENCY_MS / stepMs));
    this.depth = Math.min(wanted, allowed, this.most);
  }
}
