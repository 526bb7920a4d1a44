// Rounds of random faults against random work, in one browser: each round is a page of its own.

import type { Page } from 'playwright-core';
import { calmed, keyOf, objection } from './judge';
import { CHAIN, openSoakSite, type SoakSite, visitBare } from './site';
import { type Menu, planRound, type Round, type Strike, type Task } from './task';
import { load, type Outcome, unload, work } from './work';

export interface SoakOptions {
  seed: number;
  menu: Menu;
  model?: string;
  /** Longest time of a task. */
  boundMs?: number;
  say?(line: string): void;
}

export interface Tally {
  rounds: number;
  tasks: number;
  /** By fault: how often it happened, and how its tasks ended. */
  faults: Map<string, { happened: number; went: number; errors: number }>;
  slowestPauseMs: number;
  slowestTaskMs: number;
  findings: string[];
}

export const newTally = (): Tally => ({
  rounds: 0,
  tasks: 0,
  faults: new Map(),
  slowestPauseMs: 0,
  slowestTaskMs: 0,
  findings: [],
});

type Backend = Round['backend'];

const BOUND_MS = 120_000;
const UNLOAD_MS = 5000;

/** A browser, and a page in it whose engine nothing disturbs. */
export class Soak {
  private readonly known = new Map<string, Outcome>();
  /** A page for each backend whose engine nothing disturbs. */
  private readonly calm = new Map<Backend, Promise<Page>>();

  private constructor(
    private readonly options: SoakOptions,
    readonly site: SoakSite,
  ) {}

  static async open(options: SoakOptions): Promise<Soak> {
    return new Soak(options, await openSoakSite());
  }

  private async openCalm(backend: Backend): Promise<Page> {
    const { page } = await visitBare(this.site);
    const loaded = await page.evaluate(load, { ...this.request, backend, plan: '', cache: false });
    if (loaded.end !== 'ok') throw new Error(`The undisturbed engine did not load: ${loaded.message}`);
    return page;
  }

  close(): Promise<void> {
    return this.site.close();
  }

  private get request() {
    return { model: this.options.model ?? CHAIN, boundMs: this.options.boundMs ?? BOUND_MS };
  }

  private async undisturbed(task: Task, backend: Backend): Promise<Outcome> {
    const key = `${backend} ${keyOf(task)}`;
    const found = this.known.get(key);
    if (found) return found;
    if (!this.calm.has(backend)) this.calm.set(backend, this.openCalm(backend));
    const page = await this.calm.get(backend)!;
    const made = await page.evaluate(work, { task: calmed(task), boundMs: this.request.boundMs });
    if (made.end !== 'ok' && task.kind !== 'tune')
      throw new Error(`The undisturbed engine failed: ${made.code} ${made.message}`);
    this.known.set(key, made);
    return made;
  }

  /** Runs one round, and adds it to the tally. */
  async round(seed: number, tally: Tally): Promise<void> {
    const round = planRound(seed, this.options.menu);
    const { page, errors } = await visitBare(this.site);
    const found: string[] = [];
    try {
      await this.runRound(round, page, tally, found);
    } catch (error) {
      found.push(`the page failed: ${error instanceof Error ? error.message : error}`);
    } finally {
      await page.context().close();
    }
    found.push(...errors.map((message) => `uncaught: ${message}`));
    tally.rounds++;
    const command = `npm run soak -- --seed ${seed} --minutes 0${this.options.menu === 'losses' ? ' --losses 1' : ''}`;
    tally.findings.push(...found.map((finding) => `${command}  # ${finding}`));
  }

  private async runRound(round: Round, page: Page, tally: Tally, found: string[]): Promise<void> {
    let isLoaded = await this.load(round.loadPlan, round, page, tally, found);
    for (const [i, task] of round.tasks.entries()) {
      isLoaded ||= await this.load('', round, page, tally, found);
      if (!isLoaded) return;
      const outcome = await page.evaluate(work, { task, boundMs: this.request.boundMs });
      const calm = task.kind === 'reload' ? null : await this.undisturbed(task, round.backend);
      this.note(
        `task ${i} ${describe(task)}`,
        task.strike?.fault ?? '',
        outcome,
        objection(task, outcome, calm),
        tally,
        found,
      );
      if (task.kind === 'reload') isLoaded = false;
      else if (outcome.end === 'error' && (await page.evaluate('engine.lost !== null'))) isLoaded = false;
    }
    const end = await page.evaluate(unload, UNLOAD_MS);
    if (end.hung) found.push(`unload did not settle within ${UNLOAD_MS / 1000} s`);
    if (end.workers > 0) found.push(`${end.workers} workers live on after the unload (${end.health})`);
  }

  private async load(
    plan: string,
    { cache, backend }: Round,
    page: Page,
    tally: Tally,
    found: string[],
  ): Promise<boolean> {
    const outcome = await page.evaluate(load, { ...this.request, plan, cache, backend });
    const why = objection(null, outcome, null);
    const needless =
      !why && outcome.end === 'error' && plan === '' ? `failed without a fault: ${outcome.message}` : why;
    this.note(`load${plan && ` with ${plan}`}`, plan, outcome, needless, tally, found);
    return outcome.end === 'ok';
  }

  private note(what: string, fault: string, outcome: Outcome, why: string | null, tally: Tally, found: string[]): void {
    const { end, ms, pauseMs, code, events, backend } = outcome;
    tally.tasks++;
    tally.slowestTaskMs = Math.max(tally.slowestTaskMs, ms);
    tally.slowestPauseMs = Math.max(tally.slowestPauseMs, pauseMs);
    if (fault) {
      const name = fault.replace(/@.*/, '');
      const counts = tally.faults.get(name) ?? { happened: 0, went: 0, errors: 0 };
      tally.faults.set(name, counts);
      counts.happened++;
      if (end === 'ok') counts.went++;
      else counts.errors++;
    }
    if (why) found.push(`${what}: ${why}`);
    const seen = [
      end,
      code,
      backend,
      `${Math.round(ms)} ms`,
      pauseMs > 0 && `pause ${Math.round(pauseMs)} ms`,
      ...events,
    ];
    this.options.say?.(`  ${what}: ${seen.filter(Boolean).join(', ')}${why ? `\n    FOUND ${why}` : ''}`);
  }
}

function describe({ kind, strike }: Task): string {
  return strike ? `${kind} with ${strikeText(strike)}` : kind;
}

const strikeText = ({ fault, at, after }: Strike) => `${fault} in ${at} after ${after}${at === 'decode' ? '' : ' ms'}`;

/** The figures of a soak, a line each. */
export function summary(tally: Tally): string[] {
  const { rounds, tasks, faults, slowestPauseMs, slowestTaskMs, findings } = tally;
  const rows = [...faults]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, { happened, went, errors }]) => {
      return `  ${name}: ${happened} times, ${went} went on, ${errors} typed errors or findings`;
    });
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  return [
    `${rounds} rounds, ${tasks} tasks; longest pause ${seconds(slowestPauseMs)}, longest task ${seconds(slowestTaskMs)}`,
    ...rows,
    `${findings.length} findings`,
    ...findings,
  ];
}
