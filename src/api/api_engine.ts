// The part of an engine that the interfaces of this room use. Types only.

import type { EngineChatOptions, EngineGenerateOptions } from '../engine/engine';
import type { ChatMessage, EngineEvent, EngineInfo } from '../engine/protocol';

export type { ChatMessage, EngineChatOptions, EngineEvent, EngineGenerateOptions };

/** An `Engine`, or anything that answers like one. */
export interface ApiEngine {
  readonly info: Pick<EngineInfo, 'contextLength' | 'tools' | 'thinking'> & {
    readonly model: { readonly name: string };
  };
  chat(messages: readonly ChatMessage[], options?: EngineChatOptions): AsyncIterable<EngineEvent>;
  complete(prompt: string | readonly number[], options?: EngineGenerateOptions): AsyncIterable<EngineEvent>;
  /** Absent: the model gives no embeddings. */
  embed?(
    texts: readonly string[],
    options?: { signal?: AbortSignal; dimensions?: number },
  ): Promise<{ vectors: readonly Float32Array[]; promptTokens: number }>;
}
