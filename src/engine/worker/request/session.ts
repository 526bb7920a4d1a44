// The state that requests to one model share.

import type { ReadyModel } from '../../load/load';
import type { Branches } from '../prefix_cache/branches';
import type { LateBranches } from '../prefix_cache/late_branches';
import type { Prompts } from '../prefix_cache/late_prompts';
import type { RunAhead } from '../steps/run_ahead';
import type { BatchDoor } from '../turns/beside';
import type { Pause } from '../turns/pause';
import type { Vocabulary } from './vocabulary';

/** A loaded model with what its requests leave for one another. */
export interface Session extends ReadyModel {
  /** Absent where nothing pauses the requests. */
  pause?: Pause;
  /** Absent where only what the last request left in the cache is found again, or before the part has come. */
  branches?: Branches;
  /** What brings these when they are needed. */
  lateBranches?: LateBranches;
  /** Absent where each step is one request's. */
  batches?: BatchDoor;
  /** Absent where no prompt outlives the engine. */
  stored?: Prompts;
  /** The run-ahead of the last answer, with its estimates of this browser and GPU. */
  runAhead?: RunAhead;
  /** A failure or a step that gave up after the `done` of the last answer, for the next request to report. */
  failure?: { error: unknown };
  gaveUp?: string | null;
  /** The tokens of the vocabulary. Made by the first constrained answer. */
  vocabulary?: Vocabulary;
}
