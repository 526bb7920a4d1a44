// What the panel asks of an engine that can tune its attention, by structure. Types only.

import type { AttentionChoice } from '../engine/engine';

/** One candidate of the tuner: measured, or refused with the reason. */
export interface TuneResult {
  pass: 'prefill' | 'decode';
  /** A to H: the combinations that every prefill is tried with first; null for all others. */
  combination: string | null;
  name: string;
  parameters: Record<string, number>;
  nTokens: number;
  kvLen: number;
  /** Milliseconds of one layer's attention; null when refused. */
  ms: number | null;
  refused: string | null;
  /** Whether it is the fastest of its pass and kvLen. Known at the end. */
  fastest: boolean;
}

export interface TuneOutcome {
  results: TuneResult[];
  /** What runs from now on. */
  attention: AttentionChoice;
  /** Whether the browser keeps the profile beyond this page. */
  stored: boolean;
}

export interface Tunable {
  tune(options: {
    onResult?: (result: TuneResult, done: number, total: number) => void;
    signal?: AbortSignal;
  }): Promise<TuneOutcome>;
}
