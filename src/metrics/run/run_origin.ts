// Where a run comes from: what no event tells of it, and what it takes to run it again.

import { uniqueId } from '../../shared/unique_id';

/** The options of an answer that are single values. */
export type RunSettings = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RunOrigin {
  /** Unique, in the form of uniqueId. */
  readonly id: string;
  /** Given by a person, at any time, or ''. */
  name: string;
  /** Milliseconds since the epoch of 1970. */
  readonly startedAt: number;
  /** Version of Vivace. */
  readonly vivace: string;
  /** The browser and the system as they call themselves. */
  readonly browser: string;
  readonly system: string;
  readonly cores: number | null;
  /** The address of the model, or null for files and where unknown. */
  readonly address: string | null;
  /** The options of the answer, without those that the engine chose. Null where unknown. */
  readonly sampling: RunSettings | null;
}

const VERSION: string = import.meta.env?.VIVACE_VERSION ?? 'sources';

/** The origin of a run that begins now in this page. */
export function originHere(given: Partial<RunOrigin> = {}): RunOrigin {
  const here = globalThis.navigator as (Navigator & { userAgentData?: { platform?: string } }) | undefined;
  return {
    id: uniqueId(),
    name: '',
    startedAt: Date.now(),
    vivace: VERSION,
    browser: here?.userAgent ?? '',
    system: here?.userAgentData?.platform ?? here?.platform ?? '',
    cores: here?.hardwareConcurrency ?? null,
    address: null,
    sampling: null,
    ...given,
  };
}
