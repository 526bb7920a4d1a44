// The messages of a conversation, the tools that a model may call, and what else a chat template takes.

/** A call of a tool, as the model wrote it. */
export interface ToolCall {
  /** Identifies the call, so that the tool's message can name it. Unique in a conversation. */
  id: string;
  name: string;
  /** JSON text. Complete and valid unless the model was cut or erred. */
  arguments: string;
}

/** A function that a model may call. */
export interface Tool {
  name: string;
  description?: string;
  /** JSON Schema of the arguments, an object. */
  parameters?: Readonly<Record<string, unknown>>;
}

/** A message of a conversation. */
export interface ChatMessage {
  /**
   * The author of the content, which decides the added tokens that its text may become. `user`, `system` and `tool`:
   * only harmless ones (letters, runs of spaces, HTML tags); the text of any other token is read as letters.
   * `assistant`: also those that an answer shows, such as `<think>` and `<tool_call>`, regardless of the message's
   * origin, but no tokens that begin or end a turn. Pass answers back unchanged: the chat template drops earlier
   * thinking if the model wants that.
   */
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
  /** The thinking before an assistant's content, for templates that show it. */
  reasoning?: string;
  /** The calls after an assistant's content. */
  toolCalls?: readonly ToolCall[];
  /** The `id` of the call whose result is the content of a `tool` message. */
  toolCallId?: string;
}

/**
 * `auto`: the model decides. `none`: it learns of no tools. `required`: the answer begins with a call of a tool, or of
 * the named one.
 */
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string };

/** The inputs of a chat template beside the messages. */
export interface ChatSettings {
  /** The tools that the model may call. */
  tools?: readonly Tool[];
  /** Default: auto. */
  toolChoice?: ToolChoice;
  /** Variables for the chat template, such as `enable_thinking`. JSON values. */
  templateArguments?: Readonly<Record<string, unknown>>;
  /** The answer continues the last message, the assistant's: its content, or its thinking where it has no content. */
  continueLast?: boolean;
}

/** A conversation that waits for an answer. */
export interface ChatRequest extends ChatSettings {
  messages: readonly ChatMessage[];
  /** Default: auto, as the chat template does. */
  thinking?: 'auto' | 'on' | 'off';
}
