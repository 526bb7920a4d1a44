// The messages between the supervisor and its child process.

/** Limits of one case. */
export interface Limits {
  cpuMs: number;
  /** Limit of the heap, and separately of array buffers. */
  megabytes: number;
}

export interface Task {
  loader: string;
  seeds: number[];
  /** Inputs from corpus_rows.ts, by row number instead of seed. Default: inputs follow from the seeds. */
  rows?: Readonly<Record<number, unknown>>;
}

export interface WorkerInput {
  /** Writes inputs to a file instead of running them. */
  writeInputs: boolean;
  /** Root of the project. */
  root: string;
  limits: Limits;
  tasks: Task[];
  /** A file with the number of cases begun, four bytes little-endian. Correct even when the process hangs or dies. */
  progress: string;
}

export interface Failure {
  loader: string;
  seed: number;
  why: string;
}

/** Counts of how a task's cases ended: `loaded`, or the code of a typed error. */
export interface Outcomes {
  loader: string;
  counts: Record<string, number>;
  /** CPU time of all cases, including their preparation, and of the longest alone. */
  cpuMs: number;
  longestMs: number;
}

export type WorkerMessage =
  | { type: 'outcomes'; outcomes: Outcomes }
  | { type: 'input'; input: unknown }
  | { type: 'failure'; failure: Failure; mayRepeat: boolean };
