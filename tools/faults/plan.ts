// The faults that can be injected, and the plan of them in a page's address: `?faults=gpu-destroy@token:12,seed:7`.
// Pure.

interface Kind {
  what: string;
  /**
   * `act`: the injector does something at the moment. `call`: one call fails. `state`: all calls fail from the moment
   * on, for the seconds of `for` or for ever.
   */
  as: 'act' | 'call' | 'state';
  /** The moment when the plan names none. */
  at?: Moment;
}

type MomentName = 'call' | 'submit' | 'token' | 'ms' | 'chance';
type Moment = Readonly<Partial<Record<MomentName, number>>>;

const FIRST: Moment = { call: 1 };

export const FAULTS = {
  'gpu-destroy': { as: 'act', what: 'the GPU device is destroyed: a loss', at: { token: 8 } },
  'gpu-refused': { as: 'state', what: 'requestAdapter() gives null', at: FIRST },
  'gpu-oom': { as: 'call', what: 'a createBuffer runs out of memory', at: FIRST },
  'gpu-small': { as: 'state', what: 'buffers beyond `mb` megabytes in all run out of memory', at: FIRST },
  'gpu-map-rejected': { as: 'call', what: 'a mapAsync rejects', at: FIRST },
  nan: { as: 'act', what: 'a vector of weights on the GPU becomes NaN', at: { token: 8 } },
  'worker-hang': { as: 'act', what: 'for (;;) in the worker', at: { token: 8 } },
  'worker-close': { as: 'act', what: 'the worker closes itself', at: { token: 8 } },
  'worker-throw': { as: 'act', what: 'the worker throws outside of any call', at: { token: 8 } },
  'worker-terminate': { as: 'act', what: 'the page terminates the worker', at: { token: 8 } },
  'worker-slow': { as: 'act', what: 'the worker blocks for 1 s of each 5 s', at: { ms: 0 } },
  'opfs-absent': { as: 'state', what: 'no file system', at: FIRST },
  'opfs-throws': { as: 'state', what: 'every call of the file system fails', at: FIRST },
  'opfs-full': { as: 'state', what: 'every write to a file fails with QuotaExceededError', at: FIRST },
  'opfs-hangs': { as: 'state', what: 'no call of the file system ever settles', at: FIRST },
  'idb-absent': { as: 'state', what: 'no IndexedDB', at: FIRST },
  'idb-throws': { as: 'state', what: 'every call of IndexedDB throws', at: FIRST },
  'idb-full': { as: 'state', what: 'every write to IndexedDB aborts with QuotaExceededError', at: FIRST },
  'idb-hangs': { as: 'state', what: 'no request of IndexedDB ever ends', at: FIRST },
  'locks-absent': { as: 'state', what: 'no Web Locks', at: FIRST },
  'locks-throws': { as: 'state', what: 'every request of a lock rejects', at: FIRST },
  'locks-hangs': { as: 'state', what: 'no lock is ever granted', at: FIRST },
  'lock-held': { as: 'state', what: "another tab holds the turn of the model's load", at: FIRST },
  'cache-absent': { as: 'state', what: 'no CacheStorage', at: FIRST },
  'cache-throws': { as: 'state', what: 'every call of CacheStorage rejects', at: FIRST },
  'cache-full': { as: 'state', what: 'every put into a cache rejects with QuotaExceededError', at: FIRST },
  'cache-hangs': { as: 'state', what: 'no call of CacheStorage ever settles', at: FIRST },
  'local-storage-absent': { as: 'state', what: 'no localStorage', at: FIRST },
  'local-storage-throws': { as: 'state', what: 'reading localStorage throws', at: FIRST },
  'local-storage-full': { as: 'state', what: 'every setItem throws QuotaExceededError', at: FIRST },
  'network-down': { as: 'state', what: 'every fetch fails', at: FIRST },
  'network-cut': { as: 'call', what: 'a body breaks off in the middle', at: FIRST },
  'network-stalls': { as: 'call', what: 'a body stops in the middle and never ends', at: FIRST },
  'network-slow': { as: 'state', what: 'bodies come at `kb` KB a second (default 100)', at: FIRST },
  'network-wrong-bytes': { as: 'call', what: 'one byte in the middle of a body is another', at: FIRST },
} as const satisfies Record<string, Kind>;

export type FaultName = keyof typeof FAULTS;

/** Names that stand for several faults. */
const GROUPS: Record<string, readonly FaultName[]> = Object.fromEntries(
  ['absent', 'throws', 'full', 'hangs'].map((how) => [
    `storage-${how}`,
    faultNames().filter((name) => name.endsWith(`-${how}`) && name !== 'lock-held'),
  ]),
);

/** One fault of a plan. Plain, because it crosses to the worker. */
export interface Planned {
  name: FaultName;
  moment: Moment;
  /** How often it may happen in all workers of the page together. Without `chance`, once in each. */
  times: number;
  /** Seconds that a state lasts. Null: for ever. */
  seconds: number | null;
  kb: number;
  mb: number;
  /** When a state began, in milliseconds since 1970. */
  since: number | null;
}

export interface Plan {
  seed: number;
  faults: Planned[];
}

/** A plan that cannot be read. The message lists what exists. */
export class PlanError extends Error {}

export function faultNames(): FaultName[] {
  return Object.keys(FAULTS) as FaultName[];
}

const MOMENTS: Record<MomentName, string> = {
  call: 'at the N-th call of what the fault is about',
  submit: 'after N submits to the GPU',
  token: "after N tokens of the worker's answers; 0: as the first answer begins",
  ms: 'N milliseconds after the load began',
  chance: 'with this probability at each call, or at each submit',
};
const OTHERS: Record<string, string> = {
  times: 'how often it happens (default 1); once in each worker, unless by chance',
  for: 'seconds that it lasts (default: for ever)',
  kb: 'KB a second of network-slow',
  mb: 'megabytes of gpu-small (default 16)',
};

/** Everything that a plan may say, a line each. */
export function planHelp(): string {
  const lines = (table: Record<string, string>) => Object.entries(table).map(([name, what]) => `  ${name}: ${what}`);
  const faults = Object.entries(FAULTS).map(([name, { what }]) => `  ${name}: ${what}`);
  const groups = Object.entries(GROUPS).map(([name, names]) => `  ${name}: ${names.join(', ')}`);
  return [
    '?faults=NAME[@KEY:N[/KEY:N...]][,NAME...][,seed:N], such as ?faults=gpu-destroy@token:12,opfs-full',
    'Names:',
    ...faults,
    ...groups,
    'Keys:',
    ...lines(MOMENTS),
    ...lines(OTHERS),
  ].join('\n');
}

/** @throws PlanError */
export function parsePlan(text: string): Plan {
  const plan: Plan = { seed: 1, faults: [] };
  for (const item of text.split(',').filter((part) => part !== '')) {
    const seed = /^seed:(\d{1,10})$/.exec(item);
    if (seed) plan.seed = Number(seed[1]);
    else plan.faults.push(...parseItem(item));
  }
  return plan;
}

function parseItem(item: string): Planned[] {
  const [name = '', rest, ...more] = item.split('@');
  const group = Object.hasOwn(GROUPS, name) ? GROUPS[name] : null;
  const names = group ?? (Object.hasOwn(FAULTS, name) ? [name as FaultName] : null);
  if (!names) throw new PlanError(`There is no fault "${name}".\n${planHelp()}`);
  if (more.length > 0) throw new PlanError(`"${item}" has two @.\n${planHelp()}`);
  const keys = rest === undefined ? {} : parseKeys(item, rest);
  return names.map((one) => planned(one, keys));
}

function parseKeys(item: string, text: string): Record<string, number> {
  const keys: Record<string, number> = {};
  for (const pair of text.split('/')) {
    const [, key = '', number = ''] = /^([a-z]+):(\d+(?:\.\d+)?)$/.exec(pair) ?? [];
    if (!Object.hasOwn(MOMENTS, key) && !Object.hasOwn(OTHERS, key)) {
      throw new PlanError(`"${pair}" in "${item}" is no KEY:N.\n${planHelp()}`);
    }
    if (Object.hasOwn(keys, key)) throw new PlanError(`"${item}" says ${key} twice.\n${planHelp()}`);
    keys[key] = Number(number);
  }
  return keys;
}

/** A fault with its standard values. */
export function planned(name: FaultName, keys: Readonly<Record<string, number>> = {}): Planned {
  const kind: Kind = FAULTS[name];
  const { times = 1, for: seconds = null, kb = 100, mb = 16, ...named } = keys;
  const moment: Moment = Object.keys(named).length > 0 ? named : (kind.at ?? FIRST);
  if (Object.keys(moment).length > 1) throw new PlanError(`${name} can have one moment.\n${planHelp()}`);
  if (kind.as === 'act' && moment.call !== undefined) {
    throw new PlanError(`${name} happens at no call: say submit, token, ms or chance.\n${planHelp()}`);
  }
  if ((moment.chance ?? 0) > 1) throw new PlanError(`${name}: a chance is at most 1.\n${planHelp()}`);
  return { name, moment, times, seconds, kb, mb, since: null };
}
