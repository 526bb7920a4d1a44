// Who wrote a text decides which of its added tokens are tokens. What a person or a page wrote must not act as the frame of a
// conversation; what the model said is read back as it was said; the template is trusted.

/** The template, or the text of complete(): every added token is recognized. */
export const TEMPLATE = 0;
/** An assistant message: added tokens that an answer shows (`<think>`, `<tool_call>`), not those that end turns or begin them. */
export const MODEL = 1;
/** A user or system message: only added tokens that control nothing, such as letters and runs of spaces. */
export const PERSON = 2;

export type Author = typeof TEMPLATE | typeof MODEL | typeof PERSON;

/** The author of each UTF-16 unit of a text. */
export type Authors = Uint8Array;

export function authorOf(role: string): Author {
  return role === 'assistant' ? MODEL : PERSON;
}

/** Names between marks that llama.cpp takes for control tokens, whatever their file calls them. */
const LOOKS_LIKE_CONTROL = /^(<[|｜].*[|｜]>|<unused\d*>|<(pad|mask|2mass)>|\[@BOS@\])$/su;
/** A name between marks: `<think>`, `[/INST]`, `◁think▷`. */
const MARKUP = /^[^\p{L}\p{N}\s].*\p{L}.*[^\p{L}\p{N}\s]$/su;
/** Nothing but spaces and line breaks: they are layout, they control nothing. */
export const LAYOUT = /^[\p{White_Space}\u2581]+$/u;

export interface TokenTraits {
  /** The least trusted author whose text may become the token. */
  readonly openTo: Author;
  /** Named like the tokens around turns: not recognized in the model's text where the template writes the token itself. */
  readonly looksLikeControl: boolean;
}

/**
 * What a token does, by its file (`special`, CONTROL), by its name, and by the chat template: a token such as `</tool_response>`
 * is not special, but where the template names it, it fences messages in. Without a template every tag is taken to do so.
 */
export function traitsOf(content: string, controls: boolean, template: string | null): TokenTraits {
  if (LAYOUT.test(content)) return { openTo: PERSON, looksLikeControl: false };
  if (controls) return { openTo: TEMPLATE, looksLikeControl: true };
  const looksLikeControl = LOOKS_LIKE_CONTROL.test(content);
  const fences = looksLikeControl || (MARKUP.test(content) && (template === null || isNamed(content, template)));
  return { openTo: fences ? MODEL : PERSON, looksLikeControl };
}

/** Whether a template holds the text of a tag, or of its other half. */
function isNamed(content: string, template: string): boolean {
  const [, open, slash, rest] = /^([^\p{L}\p{N}\s/]*)(\/?)(.*)$/su.exec(content)!;
  return template.includes(content) || template.includes(`${open}${slash === '' ? '/' : ''}${rest}`);
}
