// Whose turn it is: requests run in short turns, so that none waits for the end of another. Decides only; who has the
// turn asks between its steps whether it is over, and gives way then. Knows no model and no cache.

/** A turn lasts at least so long where others wait: a few tokens, so that the change costs little beside them. */
const TURN_MS = 50;
/** A longer turn counts as so long: the page slept, or a pass took very long, and nobody shall wait as long for it. */
const MOST_COUNTED_MS = 2000;

/**
 * Why a request has not begun: as many run as may, or one that nothing runs beside (`busy`); or there is no memory to
 * set aside what one that runs has in the cache (`memory`).
 */
export type WaitReason = 'busy' | 'memory';

interface Asked {
  stopped: () => boolean;
  /** Nothing runs beside it. */
  isAlone?: boolean;
  /** Ends by itself as soon as anybody waits. */
  isBrief?: boolean;
  /** Steps for requests that rest meanwhile. It is none of those that may have begun. */
  isBatch?: boolean;
  /** Called once where the request waits for more than a turn of another. */
  onWait?: (reason: WaitReason) => void;
}

export class Turns {
  /** Requests that may have begun at a time. */
  most = 1;
  /** Not begun, in the order of their arrival. */
  private waiting: Turn[] = [];
  /** Begun and not ended, the one longest without its turn first. */
  private readonly begun = new Set<Turn>();
  private holder: Turn | null = null;

  constructor(
    private readonly turnMs = TURN_MS,
    private readonly now = () => performance.now(),
  ) {}

  /** Resolves when the request may begin, with null where it was stopped before. It ends with `leave`. */
  async enter(asked: Asked): Promise<Turn | null> {
    const turn = new Turn(this, asked);
    this.waiting.push(turn);
    const begins = turn.sleeps();
    this.next();
    return (await begins) ? turn : null;
  }

  /** True if others wait for `turn` to give way. */
  isShared(turn: Turn): boolean {
    return turn === this.holder && !turn.stays && !turn.asked.isAlone && this.ready().length > 0;
  }

  /** True if `turn` shall give way. */
  isOver(turn: Turn): boolean {
    if (!this.isShared(turn)) return false;
    const lasts = this.lasts(turn);
    const isDue = (other: Turn) =>
      !this.begun.has(other) ||
      other.asked.stopped() ||
      (turn.asked.isBatch && other.joins()) ||
      (lasts >= this.turnMs && other.usedMs <= turn.usedMs + lasts);
    return this.ready().some(isDue);
  }

  private lasts({ since }: Turn): number {
    return Math.min(this.now() - since, MOST_COUNTED_MS);
  }

  /** Lets another go on. Resolves when `turn` has it again, with false if nobody went on. */
  async giveWay(turn: Turn): Promise<boolean> {
    turn.usedMs += this.lasts(turn);
    turn.since = this.now();
    if (!turn.rests && this.ready().length === 0) return false;
    this.begun.delete(turn);
    this.begun.add(turn); // the last in the order
    this.holder = null;
    const sleeps = turn.sleeps();
    this.next();
    await sleeps;
    return true;
  }

  /** The holder of the turn goes on to its end. */
  stay(turn: Turn, why: WaitReason): void {
    turn.stays = why;
    this.tellWaits();
  }

  leave(turn: Turn): void {
    this.begun.delete(turn);
    if (turn === this.holder) this.holder = null;
    this.next();
  }

  /** The requests that could run if the holder gave way: those without a turn, and the next one that has not begun. */
  private ready(): Turn[] {
    const others = [...this.begun].filter((turn) => turn !== this.holder && !turn.rests);
    const batch = this.waiting.find(({ asked }) => asked.isBatch); // what it steps for has begun
    const first = batch ?? this.waiting.find(({ asked }) => !asked.stopped());
    return first && this.mayBegin(first, this.requests) ? [...others, first] : others;
  }

  /** Requests that have begun. */
  private get requests(): number {
    return [...this.begun].filter(({ asked }) => !asked.isBatch).length;
  }

  private mayBegin({ asked }: Turn, beside: number): boolean {
    if (beside === 0 || asked.isBatch) return true;
    return beside < this.most && !asked.isAlone && ![...this.begun].some((turn) => turn.asked.isAlone);
  }

  /**
   * Gives the turn to whoever is due, if nobody has it: stopped ones, then new ones, then those that join a batch, then
   * who has used the least.
   */
  next(): void {
    const stopped = this.waiting.filter(({ asked }) => asked.stopped());
    this.waiting = this.waiting.filter((turn) => !stopped.includes(turn));
    for (const turn of stopped) turn.wake(false);
    if (!this.holder) this.start();
    this.tellWaits();
  }

  private start(): void {
    const rank = (turn: Turn) => {
      if (!this.begun.has(turn)) return -2;
      if (turn.asked.stopped()) return -3;
      return turn.joins() ? -1 : turn.usedMs;
    };
    const [turn] = this.ready().sort((a, b) => rank(a) - rank(b)); // stable
    if (!turn) return;
    if (!this.begun.has(turn)) {
      turn.usedMs = Math.min(...[...this.begun].map(({ usedMs }) => usedMs));
      if (this.begun.size === 0) turn.usedMs = 0;
      this.waiting = this.waiting.filter((other) => other !== turn);
      this.begun.add(turn);
    }
    this.holder = turn;
    turn.since = this.now();
    turn.wake(true);
  }

  /** Tells requests that have not begun, and will not in the next turn, why. */
  private tellWaits(): void {
    const { holder } = this;
    if (!holder || holder.asked.isBrief) return;
    let beside = this.requests;
    for (const turn of this.waiting) {
      const isFree = this.mayBegin(turn, beside++);
      if (isFree && !holder.stays) continue;
      turn.tell(isFree ? (holder.stays ?? 'busy') : 'busy');
      if (turn.asked.isAlone) beside = Number.POSITIVE_INFINITY;
    }
  }
}

/** One request among others. */
export class Turn {
  /** Milliseconds of its turns so far. A new one begins with the least of the others', so that it gets no more. */
  usedMs = 0;
  /** Start of its turn. */
  since = 0;
  /** Not null if it gives way no more: what those who wait are told. */
  stays: WaitReason | null = null;
  /** True while a batch steps for it: it has given way, and is not due. */
  rests = false;
  /** True if a batch could step for it: a batch gives way to it at once. */
  joins = () => false;
  private told = false;
  private resolve: (isOn: boolean) => void = () => {};

  constructor(
    private readonly turns: Turns,
    readonly asked: Asked,
  ) {}

  /** True if others wait for it to give way. */
  get isShared(): boolean {
    return this.turns.isShared(this);
  }

  /** True if it shall give way, once nothing of it is in flight. */
  get isOver(): boolean {
    return this.turns.isOver(this);
  }

  /** Lets others run. Resolves when it has its turn again, with false if nobody ran. */
  giveWay(): Promise<boolean> {
    return this.turns.giveWay(this);
  }

  /** Ends a rest: it is due again, and the promise of `giveWay` resolves when it has its turn. */
  comeBack(): void {
    this.rests = false;
    this.turns.next();
  }

  /** Runs to its end from now on, as there is no memory to set its answer aside, or another reason. */
  stay(why: WaitReason = 'memory'): void {
    this.turns.stay(this, why);
  }

  leave(): void {
    this.turns.leave(this);
  }

  sleeps(): Promise<boolean> {
    return new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  wake(hasTurn: boolean): void {
    this.resolve(hasTurn);
  }

  tell(reason: WaitReason): void {
    if (this.told) return;
    this.told = true;
    this.asked.onWait?.(reason);
  }
}
