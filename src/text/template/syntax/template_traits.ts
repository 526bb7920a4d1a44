// Reads off a chat template what it takes and how it shows thinking and calls: renders conversations with made-up
// words, the needles, and finds the text around them. Knows no family of models.

import type { ChatSyntax, Probe } from './chat_syntax';
import { TEXT, user } from './needles';
import { readThinking, type ThinkingForm } from './thinking_syntax';
import { readTools, type ToolForm } from './tool_syntax';

export interface TemplateTraits extends ThinkingForm, ToolForm {
  readonly syntax: ChatSyntax;
  /** The text behind the content of a last message by the assistant. */
  readonly answerEnd: string;
}

export function readTraits(probe: Probe, source: string): TemplateTraits {
  const thinking = readThinking(probe, source);
  const tools = readTools(probe);
  const close = thinking.thinking?.close.trim();
  const [, begin] = close ? (tools.calls?.begin.split(close) ?? []) : []; // some show an empty thinking before a call
  const calls = tools.calls && begin !== undefined ? { ...tools.calls, begin: begin.trimStart() } : tools.calls;
  return {
    ...thinking,
    ...tools,
    calls,
    answerEnd: readAnswerEnd(probe),
    syntax: { thinking: thinking.thinking, tools: tools.showsTools ? calls : null },
  };
}

function readAnswerEnd(probe: Probe): string {
  const shown = probe({ messages: [user, { role: 'assistant', content: TEXT }] }) ?? '';
  const at = shown.lastIndexOf(TEXT);
  return at < 0 ? '' : shown.slice(at + TEXT.length);
}
