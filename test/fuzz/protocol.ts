// What the supervisor and its child process tell each other.

/** What one case may take. */
export interface Limits {
  cpuMs: number;
  /** Of the heap, and again of array buffers. */
  megabytes: number;
}

export interface Task {
  loader: string;
  seeds: number[];
  /** The inputs as corpus_rows.ts writes them; a seed is then a row's number. Otherwise inputs follow from the seeds. */
  rows?: Readonly<Record<number, unknown>>;
}

export interface WorkerInput {
  /** Inputs are written down instead of run. */
  writeInputs: boolean;
  /** Of the project. */
  root: string;
  limits: Limits;
  tasks: Task[];
  /** A file of four bytes, little-endian: cases begun so far. It is right even of a process that hangs or dies. */
  progress: string;
}

export interface Failure {
  loader: string;
  seed: number;
  why: string;
}

/** How the cases of a task ended: `loaded`, or the code of a typed error, and how often. */
export interface Outcomes {
  loader: string;
  counts: Record<string, number>;
  /** CPU time of all its cases, their making included, and of the longest alone. */
  cpuMs: number;
  longestMs: number;
}

export type WorkerMessage =
  | { type: 'outcomes'; outcomes: Outcomes }
  | { type: 'input'; input: unknown }
  | { type: 'failure'; failure: Failure; mayRepeat: boolean };
