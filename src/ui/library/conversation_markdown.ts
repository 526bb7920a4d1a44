// A conversation as a Markdown document: title, date, and the questions and answers of the visible branch, unchanged.
// Thinking is left out; the export as JSON has everything. Pure.

import { pageWords } from '../../words/page_words';
import type { Turn } from '../conversation/conversation';
import { type Conversation, shownSteps, titleOf } from '../conversation/conversation_tree';

/** @param locale the language of the date */
export function toMarkdown(conversation: Conversation, locale: string): string {
  const text = pageWords().markdown;
  const date = new Date(conversation.createdAt).toLocaleDateString(locale, { dateStyle: 'long' });
  const parts = [`# ${literal(titleOf(conversation))}`, `*${date}*`];
  if (conversation.system.trim()) parts.push(`## ${text.system}`, closed(conversation.system));
  for (const { turn } of shownSteps(conversation)) {
    parts.push(`## ${text.question}`, closed(turn.question));
    if (turn.attachments.length > 0) parts.push(`*${turn.attachments.map(({ name }) => literal(name)).join(', ')}*`);
    if (turn.answer.trim()) parts.push(`## ${answerHeading(turn)}`, closed(turn.answer));
  }
  return `${parts.join('\n\n')}\n`;
}

/** Names the models that wrote the answer, where they are known. */
function answerHeading({ writers }: Turn): string {
  const text = pageWords().markdown;
  const models = [...new Set(writers.map(({ model }) => model.replace(/\s+/g, ' ').trim()))].filter(Boolean);
  return models.length > 0 ? text.answerBy(literal(models.join(', '))) : text.answer;
}

/** What Markdown would read as marks. An underscore within a word is none. */
const MARKS = /[\\`*[\]<>#~$]|&(?=#?\w+;)|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;

/** Text of one line as Markdown that reads as this text. */
function literal(text: string): string {
  return text.replace(MARKS, '\\$&');
}

/** The text, with an end for a code block that has none: the rest of the document would become code. */
function closed(text: string): string {
  const whole = text.replace(/^\s*\n|\s+$/g, '');
  let open = '';
  for (const line of whole.split('\n')) {
    const [, fence = '', rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (open === '') {
      if (!(fence.startsWith('`') && rest.includes('`'))) open = fence;
    } else if (fence.startsWith(open) && rest.trim() === '') open = '';
  }
  return open === '' ? whole : `${whole}\n${open}`;
}
