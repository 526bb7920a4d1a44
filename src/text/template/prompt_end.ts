// The end of a prompt: where a continued message stops, and what the prompt holds of the answer already.

import { InvalidRequestError } from '../../errors';
import { type Author, type Authors, MODEL, PERSON, TEMPLATE } from '../authors';
import type { Tokenizer } from '../tokenizer';
import type { ChatRequest } from './message';
import { ID } from './syntax/literal_match';
import type { TemplateTraits } from './syntax/template_traits';

export interface ChatPrompt {
  ids: Uint32Array;
  /**
   * The beginning of the answer that the prompt holds already: an opened thinking, a call that was asked for. The text
   * of a continued message is no part of it.
   */
  begun: string;
  /** The answer continues a text, so that its first space belongs to it. */
  goesOn: boolean;
}

/** A request whose answer goes on with thinking, if that is given. The thinking's message is not among the others. */
export interface PromptRequest extends ChatRequest {
  thought?: string;
}

/** The request with the thinking that it continues taken out of the messages. */
export function openThought(request: ChatRequest): PromptRequest {
  const { messages, continueLast, thinking } = request;
  const { role, content, reasoning } = messages[messages.length - 1];
  if (!continueLast || role !== 'assistant' || content.trim() !== '' || !reasoning?.trim()) return request;
  if (thinking === 'off') {
    throw new InvalidRequestError(
      'The last message is thinking to go on with, but thinking is off. Use thinking auto.',
      'thinking',
    );
  }
  return { ...request, messages: messages.slice(0, -1), continueLast: false, thought: reasoning };
}

/** True if a request has more than messages of text. */
export function needsTraits({ messages, tools, thinking = 'auto' }: ChatRequest): boolean {
  const isPlain = messages.every(
    ({ role, reasoning, toolCalls }) => role !== 'tool' && !reasoning && !toolCalls?.length,
  );
  return !isPlain || Boolean(tools?.length) || thinking !== 'auto';
}

/** @throws InvalidRequestError for what the template has no place for */
export function checkTraits({ messages, tools = [], toolChoice, thinking }: ChatRequest, traits: TemplateTraits): void {
  const refuse = (option: keyof ChatRequest, why: string): never => {
    throw new InvalidRequestError(`${why}.`, option);
  };
  const calls = messages.some(({ toolCalls }) => toolCalls?.length);
  if (tools.length > 0 && toolChoice !== 'none' && !traits.showsTools) {
    refuse(
      'tools',
      "This model's chat template takes no tools. Leave them out, or load a model that was trained on tools",
    );
  }
  if ((calls && !traits.showsCalls) || (!traits.showsResults && messages.some(({ role }) => role === 'tool'))) {
    refuse('messages', "This model's chat template shows no calls or results of tools. Leave those messages out");
  }
  const isForced = toolChoice === 'required' || typeof toolChoice === 'object';
  if (isForced && !traits.calls)
    refuse('toolChoice', "The calls of this model's chat template cannot be read. Use toolChoice auto");
  const { ability } = traits.thinking ?? { ability: 'none' };
  if (thinking === 'off' && ability === 'always') {
    refuse('thinking', "This model's chat template cannot switch thinking off. Use thinking auto");
  }
  if (thinking === 'on' && ability === 'none') {
    refuse('thinking', "This model's chat template knows no thinking. Use thinking auto");
  }
}

/** The prompt of a rendered conversation. `authors` are null if no text could forge a token. */
export function promptOf(
  { messages, tools, toolChoice = 'auto', continueLast, thought }: PromptRequest,
  traits: TemplateTraits | null,
  rendered: string,
  authors: Authors | null,
  tokenizer: Tokenizer,
): ChatPrompt {
  let text = continueLast ? upTo(rendered, messages.at(-1)!, traits?.answerEnd ?? '') : rendered;
  let known = authors;
  let begun = continueLast ? '' : openedThinking(text, traits);
  const add = (more: string, author: Author) => {
    const joined = new Uint8Array(text.length + more.length).fill(author, text.length);
    joined.set(known?.subarray(0, text.length) ?? []);
    if (known || (author !== TEMPLATE && tokenizer.couldForge(more, author))) known = joined;
    text += more;
    begun += more;
  };
  const encode = () =>
    known
      ? tokenizer.encodeAuthored(text, known.subarray(0, text.length))
      : tokenizer.encode(text, { addSpecialTokens: false });
  const { calls, thinking } = traits ?? {};
  if (thought !== undefined) {
    if (!thinking)
      throw new InvalidRequestError("This model's chat template knows no thinking to go on with.", 'messages');
    if (begun === '') add(thinking.open, TEMPLATE);
    add(thought, MODEL);
    return { ids: encode(), begun, goesOn: true };
  }
  if (calls && toolChoice !== 'auto' && toolChoice !== 'none' && tools?.length) {
    if (begun !== '') add(thinking!.close.trimStart(), TEMPLATE);
    if (toolChoice === 'required') {
      add(calls.begin.split(ID)[0].trimEnd(), TEMPLATE);
    } else {
      add(calls.begin, TEMPLATE);
      add(toolChoice.name, PERSON);
      add(calls.middle.split(ID)[0].trimEnd(), TEMPLATE);
    }
  }
  return { ids: encode(), begun, goesOn: Boolean(continueLast) || begun !== '' };
}

/** The end of the text that opens thinking, or ''. */
function openedThinking(text: string, traits: TemplateTraits | null): string {
  const open = traits?.thinking?.open.trim() ?? '';
  const at = open === '' ? -1 : text.lastIndexOf(open);
  return at >= 0 && text.slice(at + open.length).trim() === '' ? text.slice(at) : '';
}

/**
 * The conversation up to the end of its last message's content, as transformers cuts it, but never within `answerEnd`:
 * a short content may be in there, too.
 */
function upTo(rendered: string, { role, content }: { role: string; content: string }, answerEnd: string): string {
  const trimmed = content.trim();
  const end = rendered.endsWith(answerEnd) ? rendered.length - answerEnd.length : rendered.length;
  const at = trimmed === '' || role !== 'assistant' ? -1 : rendered.lastIndexOf(trimmed, end - trimmed.length);
  if (at < 0) {
    throw new InvalidRequestError(
      `continueLast needs a last message by the assistant, with a text that the chat template shows; it is by "${role}" and has ${content.length} characters.`,
      'continueLast',
    );
  }
  const whole = content.trimStart();
  return rendered.slice(0, at + (rendered.startsWith(whole, at) ? whole : trimmed).length);
}
