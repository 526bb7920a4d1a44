// What a reader has been told of an answer, so that another engine can say the rest.

import type { EngineChatOptions } from '../../engine/engine';
import type { ChatMessage, EngineEvent, RunMetrics, TokenEvent } from '../../engine/protocol';
import { summarizeGaps } from '../../engine/tbt';

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
  /** All tokens that were asked for are told: the next engine tells the end alone. */
  private isFull = false;
  private first: TokenEvent | null = null;
  private last: TokenEvent | null = null;
  private readonly gaps: number[] = [];
  /** The offset of the positions of the engine that answers now, or null before its first token. */
  private offset: number | null = 0;

  /** @param startMs of the request, in milliseconds since 1970 */
  constructor(private readonly startMs: number) {}

  /** The event as the reader hears it. Null for one that the reader knows. */
  take(event: EngineEvent): EngineEvent | null {
    if (event.type === 'start') {
      if (this.hasStarted) return null;
      this.hasStarted = true;
      return event;
    }
    if (event.type === 'done') {
      const { earlier } = this;
      if (!earlier) return event;
      const end = { ...event, usage: { ...event.usage }, metrics: this.metricsOfAll(event.metrics) };
      end.usage.completionTokens += earlier;
      if (!this.isFull) return end;
      end.usage.completionTokens = earlier;
      return { ...end, text: '', finishReason: 'length' };
    }
    if (this.isFull) return null;
    if (event.type === 'token') return this.takeToken(event);
    if (event.type === 'reasoning') this.reasoning += event.text;
    if (event.type === 'tool-call') this.hasCalls = true;
    return event;
  }

  /** Behind another engine's tokens, positions and gaps go on from there. */
  private takeToken(event: TokenEvent): TokenEvent {
    const { last } = this;
    this.text += event.text;
    this.tokens++;
    this.offset ??= (last?.position ?? -1) + 1 - event.position;
    const tbtMs = event.tbtMs ?? (last && Math.max(0, event.atMs - last.atMs));
    const token = { ...event, tbtMs, position: event.position + this.offset };
    if (tbtMs !== null) this.gaps.push(tbtMs);
    this.first ??= token;
    this.last = token;
    return token;
  }

  /** The last engine's metrics, with the times of the whole answer. */
  private metricsOfAll(metrics: RunMetrics): RunMetrics {
    const { gaps } = this;
    const firstMs = this.first!.atMs; // the engine before has told a token
    const decodeMs = this.last!.atMs - firstMs;
    return {
      ...metrics,
      ttftMs: firstMs - this.startMs,
      decodeTokensPerSecond: decodeMs > 0 ? (gaps.length * 1000) / decodeMs : null,
      tbtMs: summarizeGaps(gaps),
    };
  }

  /**
   * The request for the rest of the answer: the whole request before any token, else the text so far, continued. Null
   * where the rest cannot be asked for: within a thought, behind nothing but spaces, behind a call, under a constraint,
   * of several answers, and of ids.
   */
  rest({ messages, prompt, options }: Asked): Partial<Asked> | null {
    const { n = 1, constraint, maxTokens, minTokens } = options;
    const { tokens } = this;
    if (n > 1 || this.hasCalls) return null;
    if (!tokens) return {};
    if (constraint || !this.text) return null;
    this.earlier = tokens;
    this.offset = null;
    this.isFull = tokens === maxTokens;
    const left = {
      maxTokens: maxTokens && (maxTokens - tokens || 1),
      minTokens: minTokens && Math.max(0, minTokens - tokens),
    };
    if (typeof prompt === 'string') return { prompt: prompt + this.text, options: { ...options, ...left } };
    if (!messages) return null;
    const last = options.continueLast ? messages.at(-1) : undefined;
    const before = last ? messages.slice(0, -1) : messages;
    const content = (last?.content ?? '') + this.text;
    if (!content.trim()) return null;
    const reasoning = (last?.reasoning ?? '') + this.reasoning;
    const answer = { ...last, role: 'assistant', content, ...(reasoning !== '' && { reasoning }) } as const;
    return { messages: [...before, answer], options: { ...options, ...left, continueLast: true } };
  }
}
