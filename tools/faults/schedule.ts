// The moments of a plan in one thread: counts calls, submits and tokens, and says which fault happens now.

import { randomSource } from '../../test/random';
import { FAULTS, type FaultName, type Plan, type Planned } from './plan';

/** A fault happened. `left`: how often it may happen again. */
export interface Happened {
  index: number;
  name: FaultName;
  left: number;
  since: number;
}

export class Schedule {
  private submits = 0;
  private tokens = 0;
  private readonly calls: number[];
  private readonly faults: Planned[];
  /** Happened in this thread: once, unless by chance. */
  private readonly done = new Set<number>();
  private readonly random: () => number;

  /** @param act runs the faults that act by themselves */
  constructor(
    plan: Plan,
    private readonly act: (fault: Planned) => void,
    private readonly report: (happened: Happened) => void,
  ) {
    this.faults = plan.faults.map((fault) => ({ ...fault }));
    this.calls = this.faults.map(() => 0);
    this.random = randomSource(plan.seed);
  }

  /** A call of what the fault is about. Returns the fault if the call has to fail. */
  strikes(name: FaultName): Planned | null {
    for (const [i, fault] of this.faults.entries()) {
      if (fault.name !== name) continue;
      this.calls[i] = (this.calls[i] ?? 0) + 1;
      if (this.lasts(fault) || (this.isDue(i, fault) && this.begin(i, fault))) return fault;
    }
    return null;
  }

  submitted(): void {
    this.submits++;
    this.actWhere(({ submit, chance }) => (submit ?? Infinity) <= this.submits || this.draws(chance));
  }

  /** @param count 0 as an answer begins */
  spoke(count: number): void {
    this.tokens += count;
    this.actWhere(({ token }) => (token ?? Infinity) <= this.tokens);
  }

  /** Starts the faults that come some time after a load began. */
  loadBegan(): void {
    for (const [i, { moment }] of this.faults.entries()) {
      if (moment.ms !== undefined) setTimeout(() => this.arrive(i), moment.ms);
    }
  }

  /** Makes the fault happen now, or at the next call that it is about. */
  now(fault: Planned): void {
    this.faults.push({ ...fault, moment: { call: 0 } });
    this.calls.push(0);
    this.arrive(this.faults.length - 1);
  }

  /** The fault's moment has come by itself, not by a call. */
  private arrive(i: number): void {
    const fault = this.faults[i]!;
    if (!this.mayHappen(i, fault)) return;
    if (FAULTS[fault.name].as === 'act') this.begin(i, fault);
    else fault.moment = { call: 0 };
  }

  private actWhere(isDue: (moment: Planned['moment']) => boolean): void {
    for (const [i, fault] of this.faults.entries()) {
      if (FAULTS[fault.name].as === 'act' && this.mayHappen(i, fault) && isDue(fault.moment)) this.begin(i, fault);
    }
  }

  private mayHappen(i: number, { moment, times }: Planned): boolean {
    return times > 0 && (moment.chance !== undefined || !this.done.has(i));
  }

  private isDue(i: number, fault: Planned): boolean {
    if (!this.mayHappen(i, fault)) return false;
    const { call, submit, token, chance } = fault.moment;
    if (call !== undefined) return (this.calls[i] ?? 0) >= call;
    if (submit !== undefined) return this.submits >= submit;
    if (token !== undefined) return this.tokens >= token;
    return this.draws(chance);
  }

  private draws(chance: number | undefined): boolean {
    return chance !== undefined && this.random() < chance;
  }

  /** True for a state that has begun and not ended. */
  private lasts({ name, since, seconds }: Planned): boolean {
    return FAULTS[name].as === 'state' && since !== null && (seconds === null || Date.now() < since + seconds * 1000);
  }

  private begin(i: number, fault: Planned): true {
    fault.times--;
    this.done.add(i);
    fault.since = Date.now();
    this.report({ index: i, name: fault.name, left: fault.times, since: fault.since }); // before a hang
    if (FAULTS[fault.name].as === 'act') this.act(fault);
    return true;
  }
}
