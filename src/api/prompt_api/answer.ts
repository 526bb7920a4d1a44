// One answer of the engine: its events as text for the page, and as the message that the conversation keeps.

import type { ChatMessage, EngineEvent, ToolCall } from '../../engine/protocol';

export interface Answer {
  message: ChatMessage;
  /** The calls that are complete and valid, in order. */
  calls: ToolCall[];
  /** The faults of the other calls, for the model. Their text is in the message. */
  errors: string[];
  /** Tokens of prompt and answer, without thinking. */
  tokens: number;
  /** True if there was no room for the rest. */
  isCut: boolean;
}

/**
 * Reads an answer to its end.
 * @param onText takes the text as it comes, that of wrong calls included
 * @throws DOMException AbortError if the engine was stopped
 */
export async function readAnswer(events: AsyncIterable<EngineEvent>, onText: (text: string) => void): Promise<Answer> {
  const calls = new Map<number, ToolCall>();
  const errors: string[] = [];
  let content = '';
  let reasoning = '';
  const say = (text: string) => {
    if (text === '') return;
    content += text;
    onText(text);
  };
  for await (const event of events) {
    if (event.type === 'token') say(event.text);
    else if (event.type === 'reasoning') reasoning += event.text;
    else if (event.type === 'tool-call') {
      const { index, id = `call_${index}`, name = '' } = event;
      const call = calls.get(index) ?? { id, name, arguments: '' };
      calls.set(index, { ...call, arguments: call.arguments + event.arguments });
    } else if (event.type === 'tool-call-error') {
      calls.delete(event.index);
      errors.push(event.message);
      say(event.text);
    } else if (event.type === 'done') {
      say(event.text);
      if (event.finishReason === 'abort') break;
      const { promptTokens, completionTokens, reasoningTokens } = event.usage;
      const tokens = promptTokens + completionTokens - reasoningTokens;
      const whole = [...calls.values()]
        .map((call) => ({ ...call, arguments: call.arguments || '{}' }))
        .filter((call) => isJson(call.arguments)); // a call may be cut by the end of the context
      const message: ChatMessage = { role: 'assistant', content };
      if (reasoning !== '') message.reasoning = reasoning;
      if (whole.length > 0) message.toolCalls = whole;
      return { message, calls: whole, errors, tokens, isCut: /^(length|context)$/.test(event.finishReason) };
    }
  }
  throw new DOMException('The answer was stopped.', 'AbortError');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
