// The injector of a page, before all other scripts: reads the plan from the address, injects faults into the page, and
// puts the prelude before each worker's module.

import { patchNetwork } from './network';
import { showPanel } from './panel';
import { FAULTS, type FaultName, faultNames, type Plan, PlanError, parsePlan, planHelp, planned } from './plan';
import { preludeSource } from './prelude_source';
import { type Happened, Schedule } from './schedule';
import { patchStorage } from './storage';

/** What happened, for tests and the panel. */
interface Record {
  name: FaultName;
  where: 'page' | 'worker';
  /** Milliseconds since 1970. */
  atMs: number;
}

/** `window.vivaceFaults`: for tests, and for people at the console. */
export interface Faults {
  happened: Record[];
  /** Live workers, the oldest first. */
  workers: Worker[];
  names: readonly FaultName[];
  help(): string;
  /** Replaces the plan of the workers to come. @throws PlanError */
  plan(text: string): void;
  /** Makes a fault happen now in every worker, or at the next call that it is about. */
  now(name: FaultName, keys?: { [key: string]: number }): void;
}

interface FromWorker {
  vivaceHappened?: Happened;
  vivaceReady?: true;
}

const text = new URLSearchParams(location.search).get('faults') ?? '';
let plan: Plan = { seed: 1, faults: [] };
let complaint = '';
try {
  plan = parsePlan(text);
} catch (error) {
  if (!(error instanceof PlanError)) throw error;
  complaint = error.message;
  console.error(complaint);
}

const panel = showPanel(() => faults, complaint);
const schedule = new Schedule(
  plan,
  () => {},
  (what) => note(what, 'page'),
);

const faults: Faults = {
  happened: [],
  workers: [],
  names: faultNames(),
  help: planHelp,
  plan(next) {
    plan = parsePlan(next);
  },
  now(name, keys) {
    if (!Object.hasOwn(FAULTS, name)) throw new PlanError(planHelp());
    const fault = { ...planned(name), ...(keys && planned(name, keys)) };
    if (FAULTS[name].as !== 'act') schedule.now(fault);
    for (const worker of faults.workers) worker.postMessage({ vivaceNow: fault });
  },
};
Object.assign(globalThis, { vivaceFaults: faults });

function note({ index, name, left, since }: Happened, where: Record['where']): void {
  faults.happened.push({ name, where, atMs: since });
  const fault = plan.faults[index]; // not there for `now`
  if (fault) Object.assign(fault, { times: left, since });
  panel.update();
}

const urlOf = (code: string) => URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));

/** A module that imports the prelude, then the worker's own: two static imports, so that no message is lost. */
function withPrelude(url: string): { url: string; forget(): void } {
  const prelude = urlOf(`globalThis.vivacePlan = ${JSON.stringify(plan)};\n${preludeSource}`);
  const both = urlOf(`import ${JSON.stringify(prelude)};\nimport ${JSON.stringify(url)};`);
  return { url: both, forget: () => [prelude, both].map((made) => URL.revokeObjectURL(made)) };
}

const Usual = Worker;
globalThis.Worker = class extends Usual {
  constructor(address: string | URL, options?: WorkerOptions) {
    const made = withPrelude(new URL(address, document.baseURI).href);
    super(made.url, { ...options, type: 'module' });
    faults.workers.push(this);
    this.addEventListener('message', (event: MessageEvent<FromWorker | null>) => {
      if (event.data?.vivaceReady) made.forget();
      const what = event.data?.vivaceHappened;
      if (what) note(what, 'worker');
      if (what?.name === 'worker-terminate') super.terminate();
      if (what || event.data?.vivaceReady) event.stopImmediatePropagation();
    });
  }

  override terminate(): void {
    faults.workers = faults.workers.filter((worker) => worker !== this);
    super.terminate();
  }
};

patchStorage(schedule);
patchNetwork(schedule);
schedule.loadBegan();
