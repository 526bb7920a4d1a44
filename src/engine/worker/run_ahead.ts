import { InvalidRequestError } from '../../errors';

/** How late a finished readback may always be: Chromium's GPU process polls every 3 ms at most. */
const LATE_MS = 3;
/** So much of the lateness is kept queued, that the GPU still has work when a readback is late. */
const HALF_AGAIN = 1.5;
/** The most that a stop may have to wait for, where the browser itself lets it wait less. */
const STOP_LATENCY_MS = 50;
const START_DEPTH = 2;
/**
 * The most to start with where steps are known to be short: twice what Chromium needs for a step of a third of a millisecond.
 * Too few at first could last: a GPU that runs dry makes its steps look longer than they are.
 */
const FAST_START_DEPTH = 32;
/** Arrivals come in bursts, between which nothing comes for at least so long. */
const PAUSE_MS = 1;
/** A slice of time is long enough to tell the step time, and ends with a burst, or inside of one that lasts so long. */
const SLICE_MS = 3;
const LONG_BURST_MS = 100;
/** Slices that the estimates look back on. */
const SLICES = 8;
/** Firefox polls every 100 ms. Steps that come together after longer than this say that the page slept or stalled. */
const ASLEEP_MS = 250;

interface Slice {
  stepMs: number;
  /** The longest that nothing came. */
  lateMs: number;
}

/**
 * How many steps to keep in flight, the one being read among them: a span of time, not a count. A number that was asked for
 * stays as it is, and 1 makes the GPU wait for the CPU at every token. `auto` follows the arrivals: what the browser keeps
 * back for how long, regularly, is queued and half again.
 *
 * A stop is found with an id and waits for the steps behind it, 50 ms of them at most. Where a browser polls more seldom the
 * GPU would starve on that, and a stop waits for the next poll anyway: there the bound is the lateness and half again. A
 * page that sleeps is not fed through its sleep, and goes on as before when it wakes.
 */
export class RunAhead {
  depth: number;
  /** Steps whose ids share a readback: 1 while the readbacks reach. */
  shared = 1;
  private readonly slices: Slice[] = [];
  private newest = 0;
  /** The slice that is not complete yet: where it begins (null before the first arrival), and what came in it. */
  private sliceStart: number | null = null;
  private steps = 0;
  private lateMs = 0;
  private burstStart = 0;
  private last = 0;

  /**
   * @param most readbacks that may be unread at a time
   * @param mostShared steps that may share one
   * @param stepBoundMs a step takes no longer than this; when known, an answer starts with as many as a stop may wait for
   * @throws InvalidRequestError when a number was asked for that is none from 1 to `most`
   */
  constructor(
    private readonly asked: 'auto' | number,
    private readonly most: number,
    private readonly mostShared = 1,
    stepBoundMs = Number.POSITIVE_INFINITY,
  ) {
    if (asked !== 'auto' && (!Number.isInteger(asked) || asked < 1 || asked > most)) {
      throw new InvalidRequestError(
        `runAhead must be "auto" or a whole number from 1 to ${most}, got ${String(asked)}.`,
      );
    }
    const affordable = Math.min(FAST_START_DEPTH, Math.floor(STOP_LATENCY_MS / stepBoundMs));
    this.depth = asked === 'auto' ? Math.min(Math.max(START_DEPTH, affordable), most) : asked;
  }

  /** Whether this would do for a request that asks for the same: what was learned is then kept. */
  suits(asked: 'auto' | number, most: number, mostShared: number): boolean {
    return this.asked === asked && this.most === most && this.mostShared === mostShared;
  }

  /** The next arrival is the first of an answer: the time before it was no wait. */
  restart(): void {
    this.sliceStart = null;
  }

  /** An id arrived; `now` in milliseconds. */
  arrived(now: number): void {
    if (this.asked !== 'auto') return;
    if (this.sliceStart === null) {
      this.begin(now);
      return;
    }
    const gap = now - this.last;
    const paused = gap >= PAUSE_MS;
    const spent = this.last - this.sliceStart;
    if (paused ? spent >= SLICE_MS : this.last - this.burstStart >= LONG_BURST_MS) {
      this.close(spent);
      this.begin(this.last);
    }
    if (paused) this.burstStart = now;
    this.steps++;
    this.lateMs = Math.max(this.lateMs, gap);
    this.last = now;
  }

  private begin(at: number): void {
    this.sliceStart = at;
    this.burstStart = at;
    this.last = at;
    this.steps = 0;
    this.lateMs = 0;
  }

  private close(spent: number): void {
    const { slices, steps, lateMs } = this;
    if (lateMs > ASLEEP_MS && steps > 1) return;
    slices[this.newest] = { stepMs: spent / steps, lateMs };
    this.newest = (this.newest + 1) % SLICES;
    this.adapt();
  }

  private adapt(): void {
    const { slices, most, mostShared } = this;
    // A GPU that ran dry or a page that was busy only makes steps look longer, so the quick slices are to be believed. The
    // lateness is what every other slice has: one stall is not regular.
    const stepMs = rank(slices, 'stepMs', 1 / 4);
    const lateMs = rank(slices, 'lateMs', 1 / 2);
    const wantedMs = HALF_AGAIN * Math.max(LATE_MS, lateMs);
    const polled = lateMs >= HALF_AGAIN * stepMs; // else the wait was for the GPU
    const allowedMs = polled ? Math.max(STOP_LATENCY_MS, wantedMs) : STOP_LATENCY_MS;
    const wanted = Math.max(START_DEPTH, Math.ceil(wantedMs / stepMs));
    const allowed = 1 + Math.floor(allowedMs / stepMs);
    this.depth = Math.min(wanted, allowed, most * mostShared);
    this.shared = Math.ceil(this.depth / most);
  }
}

/** The value that `share` of the slices stay below. */
function rank(slices: readonly Slice[], key: keyof Slice, share: number): number {
  const values = slices.map((slice) => slice[key]).sort((a, b) => a - b);
  return values[Math.floor((values.length - 1) * share)];
}
