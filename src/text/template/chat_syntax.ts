// How a chat template shows thinking and calls of tools.

/** The text around an assistant's thinking. */
interface ThinkingSyntax {
  readonly open: string;
  readonly close: string;
  /** `optional`: a variable of the template switches thinking on and off. */
  readonly ability: 'optional' | 'always';
}

/** The text around the name and the arguments of a call. */
interface ToolSyntax {
  readonly begin: string;
}

export interface ChatSyntax {
  readonly thinking: ThinkingSyntax | null;
  readonly tools: ToolSyntax | null;
}
