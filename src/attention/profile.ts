import type { AttentionName } from './attention';

/** The fastest correct choice that a tuner found for one kind of pass. */
export interface TunedAttention {
  name: AttentionName;
  parameters: Record<string, number>;
  /** Measured milliseconds of one layer's attention. */
  ms: number;
}

/** What was measured on one GPU for one shape; good for that browser, that GPU, that shape and these shaders only. */
export interface AttentionProfile {
  prefill: TunedAttention;
  /** By cache length, ascending: each holds for caches up to `kvLen`, the last one beyond as well. */
  decode: (TunedAttention & { kvLen: number })[];
  /** When it was measured, ISO 8601. */
  tunedAt: string;
}

/** One candidate of a tuner: measured, or refused with the reason. */
export interface TuneResult {
  pass: 'prefill' | 'decode';
  /** A to H: the combinations that every prefill is tried with first; null for those tried after them, and for decode. */
  combination: string | null;
  name: AttentionName;
  parameters: Record<string, number>;
  /** Tokens of the pass, and keys that its last token sees. */
  nTokens: number;
  kvLen: number;
  /** Milliseconds of one layer's attention; null when refused. */
  ms: number | null;
  refused: string | null;
  /** Whether it is the fastest of its pass and kvLen. Known at the end. */
  fastest: boolean;
}
