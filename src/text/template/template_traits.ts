// Reads off a chat template what it takes and how it shows thinking and calls: renders conversations with made-up
// words, the needles, and finds the text around them. Knows no family of models.

import type { ChatSyntax, Probe } from './chat_syntax';
import { readThinking, type ThinkingForm } from './thinking_syntax';
import { readTools, type ToolForm } from './tool_syntax';

export interface TemplateTraits extends ThinkingForm, ToolForm {
  readonly syntax: ChatSyntax;
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
    syntax: { thinking: thinking.thinking, tools: tools.showsTools ? calls : null },
  };
}
