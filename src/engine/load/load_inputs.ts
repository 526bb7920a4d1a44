// What the steps of a load hand on to one another.

import type { ModelConfig } from '../../model/config/config';
import type { ModelTensors } from '../../model/weights/tensors';
import type { ModelFiles } from '../../storage/model_files';
import type { Backend } from '../backend/backend';
import type { EngineInfo, Warning } from '../protocol';
import type { ResolvedLoad } from './load_options';
import type { LoadTracker } from './load_tracker';

/** The inputs of a load on either backend. */
export interface LoadInputs {
  files: ModelFiles;
  config: ModelConfig;
  tensors: ModelTensors;
  contextLength: number;
  options: ResolvedLoad;
  signal: AbortSignal;
  tracker: LoadTracker;
  warnings: Warning[];
}

export type LoadedBackend = { backend: Backend } & Pick<
  EngineInfo,
  'activations' | 'arithmetic' | 'gpuBytes' | 'bytesPerToken'
>;

/** The facts that decide over memory. */
export interface Wanted {
  tensors: ModelTensors;
  config: ModelConfig;
  contextLength: number;
  options: ResolvedLoad;
  warnings: Warning[];
}
