// One answer: asks the engine, feeds one turn, and knows how it ended. No DOM.

import type { ChatMessage, Engine, EngineEvent, EngineGenerateOptions } from '../../engine/engine';
import { type Turn, takeEvent } from '../conversation/conversation';
import { adviseRun, codeOf, isAbort } from '../shared/advice';
import type { Gate } from './gate';

export class AnswerRun {
  /** The context is shorter than the prompt: with fewer messages it can be asked again. */
  hasOverflowed = false;
  /** Somebody else has ended the turn. */
  isLeft = false;
  private readonly abort = new AbortController();

  /** `onEvent` hears every event, and whether it changed what the turn's reader sees. */
  constructor(
    readonly turn: Turn,
    private readonly onEvent: (event: EngineEvent, isSeen: boolean) => void,
  ) {}

  /** Asks the engine to end; the turn ends when it has. */
  stop(): void {
    this.abort.abort();
  }

  /** Ends the turn here and now, with the text that it has; what the engine still says is dropped. */
  leave(): void {
    this.isLeft = true;
    this.end('abort');
    this.stop();
  }

  /** Whether it was stopped before the engine was asked: then the turn has ended. */
  endsUnasked(): boolean {
    if (this.abort.signal.aborted) this.end('abort');
    return this.abort.signal.aborted;
  }

  /** Waits for something, but neither longer than so many milliseconds nor past a stop. */
  async outlasts(work: Promise<unknown>, ms: number): Promise<void> {
    const over = new AbortController();
    const { signal } = this.abort;
    const bound = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      over.signal.addEventListener('abort', () => clearTimeout(timer));
      signal.addEventListener('abort', () => resolve(), { signal: over.signal });
    });
    await Promise.race([work, bound]);
    over.abort();
  }

  /** Waits for the gate. Whether the engine is to be asked then. */
  async passes(gate: Gate): Promise<boolean> {
    const { turn, abort } = this;
    await gate.pass(abort.signal).catch(() => this.end('abort'));
    turn.waitsFor = null;
    return !abort.signal.aborted;
  }

  /** Settles when the turn has ended, however it did. `messages` is what a chat template gets; without one the question is continued. */
  async ask(engine: Engine, messages: ChatMessage[], sampling: EngineGenerateOptions): Promise<void> {
    const { turn } = this;
    const { signal } = this.abort;
    const options = { ...sampling, signal };
    Object.assign(turn, { state: 'streaming', advice: null });
    this.hasOverflowed = false;
    try {
      const events = engine.info.hasChatTemplate
        ? engine.chat(messages, options)
        : engine.complete(turn.question, options);
      for await (const event of events) {
        if (this.isLeft) return;
        this.onEvent(event, takeEvent(turn, event));
      }
      this.end(signal.aborted ? 'abort' : turn.finishReason);
    } catch (error) {
      if (signal.aborted || isAbort(error)) return this.end('abort');
      this.hasOverflowed = codeOf(error) === 'context-overflow';
      turn.advice = adviseRun(error, messages[0]?.role === 'system');
      turn.state = 'error';
    }
  }

  private end(finishReason: Turn['finishReason']): void {
    Object.assign(this.turn, { state: 'done', waitsFor: null, finishReason: this.turn.finishReason ?? finishReason });
  }
}
