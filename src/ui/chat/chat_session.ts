// A conversation with an engine: which turns there are, who answers, what is kept and what is said aloud. No DOM but the events that the
// chat fires.

import type { Engine, EngineEvent } from '../../engine/engine';
import { countWords, type Turn, toMessages } from '../conversation/conversation';
import {
  addTurn,
  type Conversation,
  newConversation,
  pathTo,
  replaceTurn,
  type Step,
  settled,
  shownSteps,
  showTurn,
} from '../conversation/conversation_tree';
import { type SamplingSettings, toGenerateOptions } from '../settings/settings_fields';
import { contextTokens, forgetOldest, isFull, memoryStart, NEARLY_FULL } from './chat_context';
import { AnswerRun } from './chat_run';
import { Gate } from './gate';

/** `vivace-changed`: there is something to keep. */
export class KeepEvent extends CustomEvent<Conversation> {
  /** What a new question waits for, for a while, before the engine is asked. */
  readonly waitsFor: Promise<unknown>[] = [];

  constructor(
    detail: Conversation,
    readonly isQuestion: boolean,
  ) {
    super('vivace-changed', { detail, bubbles: true, composed: true });
  }
}

/** Whoever shows the conversation. */
export interface ChatHost {
  readonly engine: Engine | null;
  /** Not null while a tuner has the GPU: a question waits for it. */
  readonly tuning: object | null;
  readonly sampling: SamplingSettings;
  dispatchEvent(event: Event): boolean;
  /** The turns or the state of the chat have changed. */
  onChange(): void;
  /** What a turn holds has changed. */
  onTurnChange(turn: Turn): void;
  /** Said to screen readers. */
  announce(text: string): void;
}

/** What hears `vivace-changed` may keep the question before it is answered; storage that does not answer by then is not waited for. */
const STORED_WITHIN_MS = 1_000;
/** An engine that has not ended an answer so long after a stop is not waited for. */
const STOPPED_WITHIN_MS = 1_000;
/** An answer that streams is kept this often. */
const KEEP_MS = 2_000;
/** A long answer says this often that it goes on. */
const STILL_WRITING_MS = 30_000;

export class ChatSession {
  steps: readonly Step[] = [];
  readonly tuned = new Gate();
  private current = newConversation();
  private run: AnswerRun | null = null;
  private keepTimer: ReturnType<typeof setTimeout> | undefined;
  private ticker: ReturnType<typeof setInterval> | undefined;
  private hasWarned = false;

  constructor(private readonly host: ChatHost) {}

  get conversation(): Conversation {
    return this.current;
  }

  get isAnswering(): boolean {
    return this.run !== null;
  }

  /** The turns that are shown. */
  get path(): Turn[] {
    return this.steps.map(({ turn }) => turn);
  }

  /** Index of the first turn that the model reads. */
  get memoryStart(): number {
    return memoryStart(this.path, this.current.memory);
  }

  get contextTokens(): number | null {
    return contextTokens(this.path, this.current.memory);
  }

  get isFull(): boolean {
    return isFull(this.path, this.current.memory);
  }

  /** A model without a template reads one message at a time, so there is nothing to forget. */
  get canForget(): boolean {
    const hasTemplate = this.host.engine?.info.hasChatTemplate === true;
    return hasTemplate && forgetOldest(this.path, this.current.memory, 0) !== undefined;
  }

  /** Goes to another conversation. An answer under way ends with the text that it has. */
  open(conversation: Conversation): void {
    this.leave();
    if (this.keepTimer !== undefined) this.keep(); // what was written of the old one may not be said of the new one
    this.hasWarned = false;
    this.show(settled(conversation));
  }

  /** The system message of this conversation, from the next question on. */
  setSystem(system: string): void {
    this.show({ ...this.current, system, updatedAt: Date.now() });
    this.keepSoon();
  }

  /** Asks after the newest turn. */
  ask(question: string): void {
    if (!this.host.engine || this.run) return;
    void this.answer(addTurn(this.current, this.steps.at(-1)?.turn.id ?? null, question));
  }

  /** Asks in the place of a turn: the question in other words, or the same one for another answer. */
  askInstead(turn: Turn, question = turn.question, makesRoom = false): void {
    if (!this.host.engine || this.run) return;
    void this.answer(replaceTurn(this.current, turn, question), makesRoom);
  }

  /** Half of the context is free again. A question that found no room is asked once more. */
  makeRoom(turn: Turn): void {
    const { engine } = this.host;
    if (!engine || this.run || !this.forget(engine.info.contextLength / 2)) return;
    if (turn.state === 'error') this.askInstead(turn, turn.question, true);
    else {
      this.hasWarned = false;
      this.host.announce('The model no longer reads the oldest messages.');
      this.keep();
    }
  }

  /** Shows the version of a turn before or after it; gives it, if there is one. */
  showVersion({ turn, among }: Step, by: 1 | -1): Turn | undefined {
    const next = among[among.indexOf(turn) + by];
    if (next) {
      this.show(showTurn(this.current, next));
      this.keep();
    }
    return next;
  }

  /** The answer under way ends as soon as the engine has heard of it; what it said stays. */
  stop(): void {
    const { run } = this;
    if (!run) return;
    run.stop();
    setTimeout(() => {
      if (this.run === run) this.leave();
    }, STOPPED_WITHIN_MS);
  }

  /** Ends an answer under way here and now. */
  leave(): void {
    const { run } = this;
    if (!run) return;
    run.leave();
    this.finish(run.turn);
  }

  /** Says that there is something to keep. Gives what its keepers are doing about it. */
  keep(isQuestion = false): Promise<unknown>[] {
    clearTimeout(this.keepTimer);
    this.keepTimer = undefined;
    const event = new KeepEvent({ ...this.current, updatedAt: Date.now() }, isQuestion);
    this.host.dispatchEvent(event);
    return event.waitsFor;
  }

  private keepSoon(): void {
    this.keepTimer ??= setTimeout(() => this.keep(), KEEP_MS);
  }

  private show(conversation: Conversation): void {
    this.current = conversation;
    this.steps = shownSteps(conversation);
    this.host.onChange();
  }

  /** `makesRoom`: what does not fit the context is asked again with fewer messages, as long as there are any. */
  private async answer({ conversation, turn }: { conversation: Conversation; turn: Turn }, makesRoom = false) {
    const engine = this.host.engine!;
    const run = new AnswerRun(turn, (event, isSeen) => this.onEvent(turn, event, isSeen));
    this.run = run;
    this.show(conversation);
    const keeping = this.keep(true);
    this.host.announce('');
    this.ticker = setInterval(() => {
      if (turn.answer) this.host.announce(`Still writing, ${countWords(turn.answer)} words.`);
    }, STILL_WRITING_MS);
    if (keeping.length > 0) await run.outlasts(Promise.allSettled(keeping), STORED_WITHIN_MS);
    if (await this.mayBegin(run)) {
      this.host.dispatchEvent(new CustomEvent('vivace-run'));
      for (let room = engine.info.contextLength / 2; ; room /= 2) {
        await run.ask(engine, this.messages(turn), toGenerateOptions(this.host.sampling));
        if (run.isLeft || !run.hasOverflowed || !makesRoom || !this.forget(room, pathTo(this.current, turn))) break;
      }
    }
    if (!run.isLeft) this.finish(turn);
  }

  /** While a tuner has the GPU a question waits. Whether it is still to be answered then. */
  private async mayBegin(run: AnswerRun): Promise<boolean> {
    if (run.endsUnasked()) return false;
    if (!this.host.tuning) return true;
    run.turn.waitsFor = 'this GPU is being tuned.';
    this.host.onTurnChange(run.turn);
    this.host.announce('The answer waits until this GPU is tuned.');
    const passes = await run.passes(this.tuned);
    this.host.onTurnChange(run.turn);
    return passes;
  }

  /** What the model is to read to answer a turn. Another branch may be shown by now. */
  private messages(turn: Turn) {
    const path = pathTo(this.current, turn);
    return toMessages(path.slice(memoryStart(path, this.current.memory)), this.current.system);
  }

  private onEvent(turn: Turn, event: EngineEvent, isSeen: boolean): void {
    this.host.dispatchEvent(new CustomEvent<EngineEvent>('vivace-event', { detail: event }));
    if (!isSeen) return;
    if (event.type === 'token' && turn.answer.length === event.text.length) this.host.announce('The answer begins.');
    this.host.onTurnChange(turn);
    this.keepSoon();
  }

  private finish(turn: Turn): void {
    this.run = null;
    clearInterval(this.ticker);
    this.host.dispatchEvent(new CustomEvent('vivace-end'));
    this.host.onChange();
    this.host.onTurnChange(turn);
    this.host.announce(turn.state === 'error' ? '' : this.describe(turn)); // a failure speaks for itself
    this.keep();
  }

  private describe({ finishReason, answer }: Turn): string {
    const part = (this.contextTokens ?? 0) / (this.host.engine?.info.contextLength ?? Number.POSITIVE_INFINITY);
    const warns = part > NEARLY_FULL && !this.hasWarned; // once
    this.hasWarned = part > NEARLY_FULL;
    const end = finishReason === 'abort' ? 'The answer was stopped' : 'The answer is complete';
    return `${end}, ${countWords(answer)} words.${warns ? ` The context is ${Math.round(100 * part)} % full.` : ''}`;
  }

  /** Whether there was anything to forget. */
  private forget(room: number, path: readonly Turn[] = this.path): boolean {
    const memory = forgetOldest(path, this.current.memory, room);
    if (memory) this.show({ ...this.current, memory, updatedAt: Date.now() });
    return memory !== undefined;
  }
}
