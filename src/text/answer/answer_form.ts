// The form of a model's answers for those who constrain them: the syntax of its template, and the control tokens in it.

import type { ChatSyntax, ThinkingSyntax, ToolSyntax } from '../template/syntax/chat_syntax';
import { ID } from '../template/syntax/literal_match';
import type { Tokenizer } from '../tokenizer';
import { isTag, triggerOf } from './call_trigger';

export interface AnswerForm {
  readonly thinking: Pick<ThinkingSyntax, 'open' | 'close'> | null;
  /** Null where calls are in a notation that no constraint knows. */
  readonly calls: (Omit<ToolSyntax, 'kind' | 'quotes'> & { kind: 'json' | 'tags'; trigger: string | null }) | null;
  /** The texts of the control tokens in all of these. */
  readonly controls: readonly string[];
}

/** @param most control tokens. Where there are more, calls cannot be told from text. */
export function answerForm(syntax: ChatSyntax, tokenizer: Tokenizer, most: number): AnswerForm {
  const { thinking } = syntax;
  const calls = syntax.tools && callsOf(syntax.tools, tokenizer);
  const names = controlsIn(namesOf([thinking, calls]), tokenizer);
  const isEnough = names.length <= most;
  return {
    thinking: thinking && { open: thinking.open, close: thinking.close },
    calls: isEnough ? calls : null,
    controls: isEnough ? names : [],
  };
}

function callsOf(tools: ToolSyntax, tokenizer: Tokenizer): AnswerForm['calls'] {
  const { kind, begin, middle, end, next, last, tags } = tools;
  if (kind === 'literal') return null;
  const trigger = triggerOf(tools);
  if (trigger.includes(ID)) return null; // no text announces a call
  const ends = tokenizer.eosIds.map((id) => tokenizer.tokenText(id)).filter((text) => text !== '');
  /** An answer ends where one of the tokens would come that end answers. */
  const cut = (text: string) => ends.reduce((left, token) => left.split(token)[0], text);
  const isCut = cut(end) !== end || (next !== null && cut(next) !== next);
  return {
    ...{ kind, begin, middle, tags },
    end: cut(end),
    next: isCut ? null : next,
    last: isCut ? '' : cut(last).trimEnd(),
    trigger: isTag(trigger) ? trigger : null,
  };
}

function controlsIn(syntax: string, tokenizer: Tokenizer): string[] {
  const names = new Set<string>();
  for (let id = 0; id < tokenizer.vocabSize; id++) {
    if (!tokenizer.isAdded(id) || tokenizer.tokenBytes(id).length > 0 || tokenizer.eosIds.includes(id)) continue;
    const name = tokenizer.tokenText(id);
    if (name !== '' && syntax.includes(name)) names.add(name);
  }
  return [...names];
}

/** The texts of the syntax. */
function namesOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? Object.values(value).map(namesOf).join('\n') : '';
}
