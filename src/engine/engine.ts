// The only API that clients import. It speaks to the worker and turns its messages into async iterators.
// It holds no model, no GPU object and no DOM node.

export { VivaceError } from '../errors';
export type * from './protocol';

import type {
  ChatMessage,
  EngineEvent,
  EngineInfo,
  GenerateOptions,
  LoadOptions,
  LoadProgress,
  ModelLocation,
  RunMetrics,
} from './protocol';

export interface EngineLoadOptions extends LoadOptions {
  onProgress?: (progress: LoadProgress) => void;
  signal?: AbortSignal;
}

export interface EngineGenerateOptions extends GenerateOptions {
  signal?: AbortSignal;
}

export declare class Engine {
  static load(model: ModelLocation, options?: EngineLoadOptions): Promise<Engine>;
  readonly info: EngineInfo;
  /** Of the newest finished run, or null before the first. */
  readonly metrics: RunMetrics | null;
  chat(messages: readonly ChatMessage[], options?: EngineGenerateOptions): AsyncGenerator<EngineEvent, void, undefined>;
  complete(prompt: string, options?: EngineGenerateOptions): AsyncGenerator<EngineEvent, void, undefined>;
  unload(): Promise<void>;
}
