// What a reader has been told of an answer, so that another engine can say the rest.

import type { EngineChatOptions } from '../engine/engine';
import type { ChatMessage, EngineEvent } from '../engine/protocol';

interface Asked {
  readonly messages?: readonly ChatMessage[];
  readonly prompt?: string | readonly number[];
  readonly options: EngineChatOptions;
}

export class Told {
  private text = '';
  private reasoning = '';
  private tokens = 0;
  private hasStarted = false;
  private hasCalls = false;
  /** Tokens of the engine before, which `done` of the next one counts too. */
  private earlier = 0;

  /** The event as the reader hears it. Null for one that the reader knows. */
  take(event: EngineEvent): EngineEvent | null {
    if (event.type === 'start') {
      const isKnown = this.hasStarted;
      this.hasStarted = true;
      return isKnown ? null : event;
    }
    if (event.type === 'done') {
      const { usage } = event;
      return { ...event, usage: { ...usage, completionTokens: usage.completionTokens + this.earlier } };
    }
    if (event.type === 'token') {
      this.text += event.text;
      this.tokens++;
    }
    if (event.type === 'reasoning') this.reasoning += event.text;
    if (event.type === 'tool-call') this.hasCalls = true;
    return event;
  }

  /**
   * The request for the rest of the answer: the whole request before any token, else the text so far, continued. Null
   * where the rest cannot be asked for: within a thought, behind a call, under a constraint, of several answers, and of
   * ids.
   */
  rest({ messages, prompt, options }: Asked): Partial<Asked> | null {
    const { n = 1, constraint, maxTokens } = options;
    if (n > 1 || this.hasCalls) return null;
    if (this.tokens === 0) return {};
    if (constraint !== undefined || this.text === '') return null;
    this.earlier = this.tokens;
    const left = maxTokens === undefined ? {} : { maxTokens: Math.max(1, maxTokens - this.tokens) };
    if (typeof prompt === 'string') return { prompt: prompt + this.text, options: { ...options, ...left } };
    if (!messages) return null;
    const last = messages.at(-1);
    const begun = options.continueLast && last ? last.content : '';
    const before = begun === '' && !options.continueLast ? messages : messages.slice(0, -1);
    const reasoning = this.reasoning === '' ? {} : { reasoning: this.reasoning };
    const answer = { role: 'assistant', content: begun + this.text, ...reasoning } as const;
    return { messages: [...before, answer], options: { ...options, ...left, continueLast: true } };
  }
}
