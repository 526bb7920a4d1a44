// The types of the Prompt API: what pages pass to a language model and get from it, and the engine below. Types only.

import type { EngineChatOptions, EngineTokenizeOptions } from '../../engine/engine';
import type { ChatMessage, EngineEvent, EngineInfo, LoadProgress } from '../../engine/protocol';

/** The part of `Engine` that the Prompt API uses. */
export interface PromptEngine {
  readonly info: Pick<EngineInfo, 'contextLength' | 'hasChatTemplate' | 'tools' | 'thinking'>;
  /** The reason why the engine answers no more. */
  readonly lost?: Error | null;
  chat(messages: readonly ChatMessage[], options?: EngineChatOptions): AsyncIterable<EngineEvent>;
  countTokens(messages: readonly ChatMessage[], options?: EngineTokenizeOptions): Promise<number>;
}

export interface LoaderOptions {
  onProgress: (progress: LoadProgress) => void;
  signal: AbortSignal;
}

/** Loads the engine when the first session is created. */
export type EngineLoader = (options: LoaderOptions) => Promise<PromptEngine>;

export type Availability = 'unavailable' | 'downloadable' | 'downloading' | 'available';

export type LanguageModelSamplingMode =
  | 'most-predictable'
  | 'predictable'
  | 'slightly-predictable'
  | 'balanced'
  | 'slightly-creative'
  | 'creative'
  | 'most-creative';

/** `image` and `audio` are legal words of the interface, but this engine reads text alone. */
export type LanguageModelMessageType = 'text' | 'image' | 'audio' | 'tool-call' | 'tool-response';

export interface LanguageModelMessageContent {
  type: LanguageModelMessageType;
  /** A string for `text`, a LanguageModelToolCall for `tool-call`, a result or an error for `tool-response`. */
  value: unknown;
}

export interface LanguageModelMessage {
  role: 'system' | 'user' | 'assistant';
  content: string | readonly LanguageModelMessageContent[];
  /** The answer continues this message. It must be the last one, by the assistant. */
  prefix?: boolean;
}

export type LanguageModelPrompt = string | readonly LanguageModelMessage[];

/** A call that the model asks the page to execute. */
export interface LanguageModelToolCall {
  readonly callId: string;
  /** The same as `callId`, as Chrome spells it. */
  readonly callID: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface LanguageModelTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments, with `type: 'object'`. */
  inputSchema: object;
  /** Runs the tool. Without it, prompt() returns the calls. */
  execute?: (input: never) => unknown;
}

export interface LanguageModelExpected {
  type: LanguageModelMessageType;
  /** Language tags. Well-formed ones are accepted, whatever the model knows. */
  languages?: readonly string[];
}

/** The thinking before an answer. */
export interface LanguageModelThinking {
  effort?: 'none' | 'low' | 'medium' | 'high';
  /** Must not be true: an answer never contains the thinking. */
  includeThoughts?: boolean;
}

/** `samplingMode` excludes `topK` and `temperature`. */
export interface LanguageModelCreateCoreOptions {
  samplingMode?: LanguageModelSamplingMode;
  topK?: number;
  temperature?: number;
  expectedInputs?: readonly LanguageModelExpected[];
  expectedOutputs?: readonly LanguageModelExpected[];
  tools?: readonly LanguageModelTool[];
  /** Default: no thinking, if the model has a switch. */
  thinking?: LanguageModelThinking;
}

/** The target of events `downloadprogress`, with `loaded` from 0 to 1. */
export interface CreateMonitor extends EventTarget {
  ondownloadprogress: ((event: ProgressEvent) => unknown) | null;
  addEventListener(
    type: 'downloadprogress',
    listener: (event: ProgressEvent) => unknown,
    options?: AddEventListenerOptions | boolean,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: AddEventListenerOptions | boolean,
  ): void;
}

export interface LanguageModelCreateOptions extends LanguageModelCreateCoreOptions {
  /** Ends the creation, and later the session. */
  signal?: AbortSignal;
  monitor?: (monitor: CreateMonitor) => unknown;
  initialPrompts?: readonly LanguageModelMessage[];
}

export interface LanguageModelAppendOptions {
  signal?: AbortSignal;
}

export interface LanguageModelPromptOptions extends LanguageModelAppendOptions {
  /** A JSON Schema or a RegExp. */
  responseConstraint?: object;
  omitResponseConstraintInput?: boolean;
  /** Default: the session's. */
  thinking?: LanguageModelThinking;
}

export interface LanguageModelParams {
  readonly defaultTopK: number;
  readonly maxTopK: number;
  readonly defaultTemperature: number;
  readonly maxTemperature: number;
}

type Handler = ((event: Event) => unknown) | null;

/** `Answer`: a string, or with tools that have no `execute` also a list of texts and calls. */
export interface LanguageModelSession<Answer = string> extends EventTarget {
  readonly contextUsage: number;
  readonly contextWindow: number;
  readonly inputUsage: number;
  readonly inputQuota: number;
  readonly topK: number;
  readonly temperature: number;
  /** Null in a session with `topK` or `temperature`. */
  readonly samplingMode: LanguageModelSamplingMode | null;
  oncontextoverflow: Handler;
  onquotaoverflow: Handler;
  prompt(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): Promise<Answer>;
  promptStreaming(
    input: LanguageModelPrompt,
    options?: LanguageModelPromptOptions,
  ): ReadableStream<Answer extends string ? string : string | LanguageModelMessageContent>;
  append(input: LanguageModelPrompt, options?: LanguageModelAppendOptions): Promise<undefined>;
  measureContextUsage(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): Promise<number>;
  measureInputUsage(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): Promise<number>;
  clone(options?: LanguageModelAppendOptions): Promise<LanguageModelSession<Answer>>;
  destroy(): undefined;
}

/** The class `LanguageModel` of one engine. Its constructor is not for pages. */
export interface LanguageModelClass {
  new (illegal: never): LanguageModelSession;
  availability(options?: LanguageModelCreateCoreOptions): Promise<Availability>;
  create<Answer = string>(options?: LanguageModelCreateOptions): Promise<LanguageModelSession<Answer>>;
  /** Null if the engine is lost. */
  params(): Promise<LanguageModelParams | null>;
}
