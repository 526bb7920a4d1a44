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
