// The attention part of a tuning profile, which `auto` obeys: the fastest sibling with its parameters, by kind of pass.

import type { AttentionName } from './attention';

/** The fastest correct choice for one kind of pass. */
export interface TunedAttention {
  name: AttentionName;
  parameters: Record<string, number>;
  /** Measured milliseconds of one layer's attention. */
  ms: number;
}

/** Measured on one GPU for one shape; valid for that browser, that GPU, that shape and these shaders only. */
export interface AttentionProfile {
  prefill: TunedAttention;
  /** Ascending by cache length. Each entry holds for caches up to `kvLen`, the last one for longer caches, too. */
  decode: (TunedAttention & { kvLen: number })[];
  /** The time of measuring, ISO 8601. */
  tunedAt: string;
}
