// The events of <vivace-metrics> by name.

import type { Roofline } from '../../engine/engine';

export interface MetricsEvents {
  /** The speed of the GPU's memory was measured. Null: another GPU has taken over. */
  'vivace-roofline': CustomEvent<Roofline | null>;
  /** The progress of a tuning or of a measurement that repeats a run. Null: it is over. */
  'vivace-tuning': CustomEvent<{ done: number; total: number; isRepeat?: boolean } | null>;
}
