// The health of an engine, for clients that show it. Types only.

import type { VivaceError } from '../errors';
import type { LoadProgress } from './protocol';

/**
 * `recovering`: the worker or its GPU was lost, and the model loads again in a new worker; requests wait. `loss` counts
 * the losses of the last ten minutes, from 1. `without-gpu`: the model runs on the CPU, because the browser grants no
 * GPU after a loss; the next try is at `nextTryAt` (milliseconds since 1970). `lost`: for good.
 */
export type Health =
  | { state: 'well' }
  | { state: 'recovering'; cause: VivaceError; loss: number; progress: LoadProgress | null }
  | { state: 'without-gpu'; cause: VivaceError; nextTryAt: number }
  | { state: 'lost'; cause: VivaceError };
