// How a chat template shows thinking and calls of tools. Types only.

/** The text around an assistant's thinking. */
export interface ThinkingSyntax {
  readonly open: string;
  readonly close: string;
  /** `optional`: a variable of the template switches thinking on and off. */
  readonly ability: 'optional' | 'always';
}

/**
 * The text around the names and arguments of calls:
 * begin NAME middle ARGUMENTS end, next NAME middle ARGUMENTS end, last.
 */
export interface ToolSyntax {
  /**
   * The notation of arguments. `json`: an object. `literal`: pairs in brackets, which may belong to Python. `tags`:
   * each argument is `key` KEY `value` VALUE `close`.
   */
  readonly kind: 'json' | 'literal' | 'tags';
  readonly begin: string;
  readonly middle: string;
  readonly end: string;
  /** Null: one call is all that an answer can hold. */
  readonly next: string | null;
  readonly last: string;
  readonly quotes: readonly string[];
  readonly tags: { readonly key: string; readonly value: string; readonly close: string } | null;
}

export interface ChatSyntax {
  readonly thinking: ThinkingSyntax | null;
  readonly tools: ToolSyntax | null;
}

/** Renders with these variables. Null if the template fails. */
export type Probe = (variables: Record<string, unknown>) => string | null;
