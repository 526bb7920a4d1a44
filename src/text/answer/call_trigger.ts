// What announces a call of a tool.

import type { ToolSyntax } from '../template/syntax/chat_syntax';

/** The text that announces a call: its first tag or, for calls that are nothing but JSON, its first words. */
export function triggerOf({ begin }: ToolSyntax): string {
  const tag = /^\S+?(?=[\s\0]|\[?\s*\{|$)/.exec(begin)?.[0] ?? begin;
  return tag.replace(/(?<=.)[[{(\0]+$/s, '');
}

/** True if the trigger is no ordinary text, so that an answer that has it means a call. */
export function isTag(trigger: string): boolean {
  return /^[^\p{L}\p{N}\s{]/u.test(trigger);
}
