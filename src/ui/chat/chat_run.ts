// The run of one answer: asks the engine and writes the events into one turn. Touches no DOM.

import type { BackendName, ChatEngine, ChatMessage, EngineEvent, EngineGenerateOptions } from '../../engine/engine';
import { contentOf } from '../conversation/attachments';
import { addFigures, type FormerEnd, reopen, settlePart, withBegun } from '../conversation/continuation';
import { type Turn, takeEvent } from '../conversation/conversation';
import { signBegin, signEnd } from '../conversation/writers';
import { adviseContinue, adviseCut, adviseRun, codeOf, inEachLanguage, isAbort } from '../shared/advice';
import { recoveryRemark } from '../shared/recovery';
import type { Gate } from './gate';

/** Most remarks on recoveries of one answer. */
const MAX_REMARKS = 10;

export class AnswerRun {
  /** True if the prompt was longer than the context. With fewer messages it can be asked again. */
  hasOverflowed = false;
  /** True if `leave` has ended the turn. */
  isLeft = false;
  /** True if the model's chat template can continue no answer. */
  isUnable = false;
  /** The earlier end of an answer that goes on. */
  private readonly former: FormerEnd | null;
  /** True once the engine has told the figures of this run. */
  private hasFigures = false;
  private hasWritten = false;
  /** The model that writes now. */
  private author: string;
  private readonly abort = new AbortController();
  /** The code of the loss that the answer waits for, or null. */
  private lossCode: string | null = null;

  /**
   * @param writer the name of the model
   * @param onEvent gets every event, and whether it changed the text or state that the reader sees
   * @param goesOn true to continue the turn's answer
   */
  constructor(
    readonly turn: Turn,
    private readonly writer: string,
    private readonly onEvent: (event: EngineEvent, isSeen: boolean) => void,
    goesOn = false,
  ) {
    this.author = writer;
    this.former = goesOn ? reopen(turn) : null;
  }

  /** Asks the engine to end the answer. The turn ends when the engine has. */
  stop(): void {
    this.abort.abort();
  }

  /** Ends the turn at once with the text so far. Later events of the engine are dropped. */
  leave(): void {
    this.isLeft = true;
    this.end('abort');
    this.stop();
  }

  /** Runs after the end of the turn, however it came. */
  settle(): void {
    if (this.hasWritten) signEnd(this.turn, Date.now());
    if (this.former && !this.hasFigures) settlePart(this.turn, this.former);
  }

  /** True once the turn has ended. It may go on in another run. */
  private get isOver(): boolean {
    return this.isLeft || this.hasFigures;
  }

  /** Ends the turn if it was stopped before the engine was asked, and returns whether it was. */
  endsUnasked(): boolean {
    if (this.abort.signal.aborted) this.end('abort');
    return this.abort.signal.aborted;
  }

  /** Waits for `work`, at most `ms` milliseconds, and not past a stop. */
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

  /** Waits for the gate. False if the turn was stopped meanwhile. */
  async passes(gate: Gate): Promise<boolean> {
    const { turn, abort } = this;
    await gate.pass(abort.signal).catch(() => this.end('abort'));
    turn.waitsFor = null;
    return !abort.signal.aborted;
  }

  /**
   * Settles when the turn has ended, in whatever way. A model without a chat template gets the question instead of
   * `messages`, and the answer that goes on. The GPU's times are an event after the end.
   */
  ask(engine: ChatEngine, messages: ChatMessage[], sampling: EngineGenerateOptions): Promise<void> {
    return new Promise((ended) => void this.listen(engine, messages, sampling, ended).finally(ended));
  }

  private async listen(
    engine: ChatEngine,
    messages: ChatMessage[],
    sampling: EngineGenerateOptions,
    ended: () => void,
  ): Promise<void> {
    const { turn, former } = this;
    const { signal } = this.abort;
    const options = { ...sampling, gpuTimes: true, signal };
    let { backend } = engine.info;
    Object.assign(turn, { state: 'streaming', advice: null });
    this.hasOverflowed = false;
    try {
      const events = engine.info.hasChatTemplate
        ? former
          ? engine.chat(withBegun(messages, turn), { ...options, continueLast: true })
          : engine.chat(messages, options)
        : engine.complete(contentOf(turn) + turn.answer, options);
      for await (const event of events) {
        if (this.isLeft) return;
        const isSeen = takeEvent(turn, event);
        if (isSeen && event.type !== 'prefill') this.sign();
        if (event.type === 'place') {
          this.moveTo(event.place === 'remote' ? event.info.model.name : this.writer);
          if (this.lossCode === null) backend = event.info.backend;
        }
        if (event.type === 'interrupted') this.lossCode = event.code;
        if (event.type === 'recovered') {
          this.remark(event.pauseMs, event.backend === backend ? null : event.backend);
          backend = event.backend;
        }
        if (event.type === 'done') this.endWithFigures(event.finishReason);
        this.onEvent(event, isSeen);
        if (event.type === 'done') ended();
      }
      if (!this.isOver) this.end(signal.aborted ? 'abort' : turn.finishReason);
    } catch (error) {
      if (this.isOver) return; // the engine tells its own loss
      if (signal.aborted || isAbort(error)) return this.end('abort');
      this.fail(error, messages);
    }
  }

  private sign(): void {
    if (!this.hasWritten) signBegin(this.turn, this.author);
    this.hasWritten = true;
  }

  /** Another model writes from now on. */
  private moveTo(author: string): void {
    if (author === this.author) return;
    if (this.hasWritten) signEnd(this.turn, Date.now());
    this.author = author;
    this.hasWritten = false;
  }

  private fail(error: unknown, messages: readonly ChatMessage[]): void {
    const { turn, former } = this;
    const code = codeOf(error);
    this.hasOverflowed = code === 'context-overflow';
    this.isUnable = former !== null && (code === 'invalid-request' || code === 'chat-template');
    const hasSystem = messages[0]?.role === 'system';
    const hasText = turn.answer + turn.reasoning !== '';
    turn.advice = inEachLanguage(() => {
      if (former) return adviseContinue(error);
      const advice = adviseRun(error, hasSystem);
      return hasText ? adviseCut(advice) : advice;
    });
    turn.state = 'error';
  }

  private endWithFigures(finishReason: Turn['finishReason']): void {
    this.hasFigures = true;
    if (this.former) addFigures(this.turn, this.former);
    this.end(finishReason);
  }

  private remark(pauseMs: number, onto: BackendName | null): void {
    const { remarks } = this.turn;
    if (remarks.length < MAX_REMARKS) remarks.push(recoveryRemark(this.lossCode, pauseMs, onto));
    this.lossCode = null;
  }

  private end(finishReason: Turn['finishReason']): void {
    Object.assign(this.turn, { state: 'done', waitsFor: null, finishReason: this.turn.finishReason ?? finishReason });
  }
}
