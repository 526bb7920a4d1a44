// Requests of OpenAI's interface, as the checks leave them. Types only; names as on the wire.

type Given<T> = { readonly [K in keyof T]?: T[K] | null };

/** Text, or parts that each hold a text under the name of their type. */
export type WireContent = string | readonly { type: string; text?: string; refusal?: string }[];

export interface WireFunction {
  name: string;
  description?: string | null;
  parameters?: Readonly<Record<string, unknown>> | null;
  strict?: unknown;
}

interface WireMessageFields {
  content: WireContent;
  refusal: string;
  reasoning_content: string;
  reasoning: string;
  tool_calls: readonly { id: string; function: { name: string; arguments: string } }[];
  tool_call_id: string;
}

export interface WireMessage extends Given<WireMessageFields> {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
}

type WireToolChoice = 'none' | 'auto' | 'required' | { function?: { name: string }; name?: string };

type WireSchema = Readonly<Record<string, unknown>>;

export interface WireFormat {
  readonly type: string;
  /** The schema of responses, or llama.cpp's beside `json_object`. */
  readonly schema?: WireSchema | null;
  readonly json_schema?: { readonly schema?: WireSchema | null } | null;
}

interface SharedFields {
  grammar: string;
  json_schema: WireSchema;
  model: string;
  stream: boolean;
  stream_options: { include_usage?: boolean | null };
  stop: string | readonly string[];
  seed: number;
  n: number;
  top_k: number;
  ignore_eos: boolean;
  logit_bias: Readonly<Record<string, number>>;
  max_tokens: number;
  max_completion_tokens: number;
  max_output_tokens: number;
  chat_template_kwargs: Readonly<Record<string, unknown>>;
  return_progress: boolean;
  timings_per_token: boolean;
  parallel_tool_calls: boolean;
  top_logprobs: number;
  tool_choice: WireToolChoice;
}

export interface SharedRequest extends Given<SharedFields> {}

interface ChatFields {
  tools: readonly { function: WireFunction }[];
  logprobs: boolean;
  reasoning_effort: string;
  response_format: WireFormat;
  add_generation_prompt: boolean;
  continue_final_message: boolean;
}

export interface ChatRequest extends SharedRequest, Given<ChatFields> {
  readonly messages: readonly WireMessage[];
}

interface CompletionFields {
  response_format: WireFormat;
  echo: boolean;
  best_of: number;
  logprobs: number;
}

export interface CompletionRequest extends SharedRequest, Given<CompletionFields> {
  readonly prompt: string | readonly number[] | readonly (string | readonly number[])[];
}

export interface EmbeddingRequest {
  readonly input: string | readonly string[];
  readonly dimensions?: number | null;
  readonly encoding_format?: string | null;
}

interface ItemFields {
  type: string;
  id: string;
  role: 'system' | 'developer' | 'user' | 'assistant';
  content: WireContent;
  summary: readonly { text: string }[];
  call_id: string;
  name: string;
  arguments: string;
  output: WireContent;
}

export interface WireItem extends Given<ItemFields> {}

interface ResponseFields {
  instructions: string;
  tools: readonly WireFunction[];
  include: readonly unknown[];
  reasoning: { effort?: string | null; summary?: unknown };
  text: { format?: WireFormat | null };
  store: boolean;
}

export interface ResponseRequest extends SharedRequest, Given<ResponseFields> {
  readonly input: string | readonly WireItem[];
}
