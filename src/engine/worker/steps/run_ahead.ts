// The run-ahead: decides how many decode steps to keep queued on the GPU.

import { InvalidRequestError } from '../../../errors';
import { canLook } from '../../../gpu/watch';

/** Usual delay of a finished readback: Chromium's GPU process polls at most every 3 ms. */
const LATE_MS = 3;
/** Factor of the lateness to keep queued, so that the GPU still has work when a readback is late. */
const HALF_AGAIN = 1.5;
/** Longest wait of a stop for queued steps, unless the browser polls less often. */
const STOP_LATENCY_MS = 50;
/** The longest delay of readbacks that is supplied where nothing makes the browser look: Firefox polls every 100 ms. */
const MOST_LATE_MS = 110;
const START_DEPTH = 2;
/**
 * Largest depth to start with if steps are known to be short: twice the need of Chromium for steps of a third of a
 * millisecond. A start that is too low could persist: a GPU that runs dry makes its steps look longer than they are.
 */
const FAST_START_DEPTH = 32;
/** Readbacks in flight where steps share them, and the longest work of one. */
const LEAST_READBACKS = 3;
const SHARED_MS = 1.5;
/** Shortest pause between bursts of arrivals. */
const PAUSE_MS = 1;
/**
 * Shortest slice of time that tells the step time, where arrivals are not later. It ends with a burst, or within a
 * burst longer than LONG_BURST_MS.
 */
const SLICE_MS = 3;
const LONG_BURST_MS = 100;
/** Number of slices that the estimates use. */
const SLICES = 8;
/** Steps that arrive together after a longer pause mean that the page slept or stalled. */
const ASLEEP_MS = 250;

interface Slice {
  stepMs: number;
  /** Longest pause between arrivals. */
  lateMs: number;
}

/**
 * The number of steps to keep in flight, including the one being read. It is chosen as a span of time, not as a count.
 * A requested number stays fixed, and 1 makes the GPU wait for the CPU at every token. `auto` follows the arrivals: it
 * queues one and a half times the regular lateness of readbacks.
 *
 * A stop is found with an id and waits for the steps behind that id, at most 50 ms of them. Where gpu/watch.ts cannot
 * make the browser look, a browser may poll less often: 50 ms would starve the GPU, and a stop waits for the next poll
 * anyway. There the bound is one and a half times the lateness, up to the longest poll of any browser: later arrivals
 * wait for the queued steps themselves. A sleeping page is not supplied through its sleep, and continues as before when
 * it wakes.
 */
export class RunAhead {
  depth: number;
  /** Steps whose ids share a readback: 1 as long as there are enough readbacks. */
  shared = 1;
  private readonly slices: Slice[] = [];
  private newest = 0;
  /** The lateness that at most a quarter of the slices exceed. Much shorter slices would cut a burst in two. */
  private usualLateMs = 0;
  /** Start of the current slice, or null before the first arrival. The next fields describe the slice. */
  private sliceStart: number | null = null;
  private steps = 0;
  private lateMs = 0;
  private burstStart = 0;
  private last = 0;

  /**
   * @param most readbacks that may be unread at a time
   * @param mostShared steps that may share a readback
   * @param stepBoundMs upper bound of a step's time; if known, an answer starts with the depth that a stop can afford
   * @throws InvalidRequestError if the requested number is not a whole number from 1 to `most`
   */
  constructor(
    readonly asked: 'auto' | number,
    private readonly most: number,
    private readonly mostShared = 1,
    stepBoundMs = Number.POSITIVE_INFINITY,
  ) {
    if (asked !== 'auto' && (!Number.isInteger(asked) || asked < 1 || asked > most)) {
      throw new InvalidRequestError(
        `runAhead must be "auto" or a whole number from 1 to ${most}, got ${String(asked)}.`,
        'runAhead',
      );
    }
    const affordable = Math.min(FAST_START_DEPTH, Math.floor(STOP_LATENCY_MS / stepBoundMs));
    this.depth = asked === 'auto' ? Math.min(Math.max(START_DEPTH, affordable), most) : asked;
  }

  /** True if a request with these values can reuse this run-ahead and what it has learned. */
  suits(asked: 'auto' | number, most: number, mostShared: number): boolean {
    return this.asked === asked && this.most === most && this.mostShared === mostShared;
  }

  /** Time of a step, as far as it is known: a GPU that ran dry only makes steps look longer. */
  get stepMs(): number | null {
    return this.slices.length > 0 ? rank(this.slices, 'stepMs', 1 / 4) : null;
  }

  /** Begins an answer: the time before its first arrival is not a wait. */
  restart(): void {
    this.sliceStart = null;
  }

  /** Takes note of an id that arrived at `now` milliseconds. */
  arrived(now: number): void {
    if (this.asked !== 'auto') return;
    if (this.sliceStart === null) {
      this.begin(now);
      return;
    }
    const gap = now - this.last;
    const paused = gap >= PAUSE_MS;
    const spent = this.last - this.sliceStart;
    if (paused ? spent >= Math.max(SLICE_MS, this.usualLateMs / 2) : this.last - this.burstStart >= LONG_BURST_MS) {
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
    // A GPU that ran dry or a page that was busy only makes steps look longer, so quick slices are the true ones. The
    // lateness is the median, because a single stall is not regular.
    const stepMs = rank(slices, 'stepMs', 1 / 4);
    const lateMs = rank(slices, 'lateMs', 1 / 2);
    this.usualLateMs = rank(slices, 'lateMs', 3 / 4);
    const wantedMs = HALF_AGAIN * Math.min(Math.max(LATE_MS, lateMs), MOST_LATE_MS);
    const polled = lateMs >= HALF_AGAIN * stepMs; // otherwise the loop waited for the GPU
    const allowedMs = polled && !canLook() ? Math.max(STOP_LATENCY_MS, wantedMs) : STOP_LATENCY_MS;
    const wanted = Math.max(START_DEPTH, Math.ceil(wantedMs / stepMs));
    const allowed = 1 + Math.floor(allowedMs / stepMs);
    const depth = Math.min(wanted, allowed, most * mostShared);
    // Where a browser polls, ids arrive together anyway, and steps of one submit have no gap between them.
    const together = polled ? Math.floor(Math.min(depth / LEAST_READBACKS, SHARED_MS / stepMs)) : 1;
    this.shared = Math.min(mostShared, Math.max(1, together, Math.ceil(depth / most)));
    this.depth = Math.min(depth + this.shared - 1, most * mostShared); // room for one more step is not room for all
  }
}

/** The value below which `share` of the slices lie. */
function rank(slices: readonly Slice[], key: keyof Slice, share: number): number {
  const values = slices.map((slice) => slice[key]).sort((a, b) => a - b);
  return values[Math.floor((values.length - 1) * share)];
}
