// The author of a text decides which added tokens its characters may become. Text from people and pages must not act as
// the frame of a conversation, the model's own text is read back as generated, and the template is trusted.

/** The template, or the text of complete(): every added token is recognized. */
export const TEMPLATE = 0;
/**
 * An assistant message, its thinking and its calls: added tokens that an answer shows (`<think>`, `<tool_call>`) are
 * recognized, those around turns are not.
 */
export const MODEL = 1;
/**
 * A user, system or tool message, or a tool's definition: only harmless added tokens, such as letters and runs of
 * spaces, are recognized.
 */
export const PERSON = 2;

export type Author = typeof TEMPLATE | typeof MODEL | typeof PERSON;

/** The author of each UTF-16 unit of a text. */
export type Authors = Uint8Array;

export function authorOf(role: string): Author {
  return role === 'assistant' ? MODEL : PERSON;
}

/** Names in brackets that llama.cpp takes for control tokens, regardless of their type in the file. */
const LOOKS_LIKE_CONTROL = /^(<[|｜].*[|｜]>|<unused\d*>|<(pad|mask|2mass)>|\[@BOS@\])$/su;
/** A name in brackets: `<think>`, `[/INST]`, `◁think▷`. Looks ahead, since two `.*` would share a long token. */
const MARKUP = /^[^\p{L}\p{N}\s](?=.*\p{L}).*[^\p{L}\p{N}\s]$/su;
/** Only spaces and line breaks, which are layout and control nothing. */
export const LAYOUT = /^[\p{White_Space}\u2581]+$/u;

export interface TokenTraits {
  /** The least trusted author whose text may become the token. */
  readonly openTo: Author;
  /** Named like the tokens around turns. Not recognized in the model's text if the template writes the token itself. */
  readonly looksLikeControl: boolean;
}

/**
 * Classifies a token by its type in the file (`special`, CONTROL), its name, and the chat template. A token such as
 * `</tool_response>` is not special, but delimits messages if the template names it. Without a template every tag
 * counts as a delimiter.
 */
export function traitsOf(content: string, controls: boolean, template: string | null): TokenTraits {
  if (LAYOUT.test(content)) return { openTo: PERSON, looksLikeControl: false };
  if (controls) return { openTo: TEMPLATE, looksLikeControl: true };
  const looksLikeControl = LOOKS_LIKE_CONTROL.test(content);
  const fences = looksLikeControl || (MARKUP.test(content) && (template === null || isNamed(content, template)));
  return { openTo: fences ? MODEL : PERSON, looksLikeControl };
}

/** True if a template contains a tag or the tag's other half. */
function isNamed(content: string, template: string): boolean {
  const [, open, slash, rest] = /^([^\p{L}\p{N}\s/]*)(\/?)(.*)$/su.exec(content)!;
  return template.includes(content) || template.includes(`${open}${slash === '' ? '/' : ''}${rest}`);
}
