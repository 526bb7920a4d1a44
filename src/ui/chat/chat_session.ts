// A conversation with an engine: its turns, the answer under way, what is stored and what screen readers hear. A
// controller of the element that shows it; touches no DOM but the events that it dispatches there.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { ChatEngine, Constraint, EngineEvent } from '../../engine/engine';
import { whenRemoved } from '../../shared/removal';
import { uniqueId } from '../../shared/unique_id';
import { words } from '../../words/words';
import type { Attachment } from '../conversation/attachments';
import { isCut } from '../conversation/continuation';
import { countWords, endedInThought, endRemark, type Turn, toMessages } from '../conversation/conversation';
import {
  addTurn,
  type Conversation,
  newConversation,
  pathTo,
  replaceTurn,
  type Step,
  settled,
  showBranchOf,
  shownSteps,
  showTurn,
} from '../conversation/conversation_tree';
import { type VersionOf, versionBeside } from '../conversation/versions';
import { type SamplingSettings, type Thinking, toOptions } from '../settings/settings_fields';
import { percentText } from '../shared/amounts';
import { lossOf } from '../shared/recovery';
import { contextTokens, forgetOldest, isFull, memoryStart, NEARLY_FULL } from './chat_context';
import { AnswerRun } from './chat_run';
import { Gate } from './gate';

/** `vivace-changed`: a conversation to store. */
export class KeepEvent extends CustomEvent<Conversation> {
  /** Writes that a new question waits for, at most `STORED_WITHIN_MS`, before the engine is asked. */
  readonly waitsFor: Promise<unknown>[] = [];

  constructor(
    detail: Conversation,
    readonly isQuestion: boolean,
  ) {
    super('vivace-changed', { detail, bubbles: true, composed: true });
  }
}

/** `vivace-writing`: a turn whose text has grown, to be kept before its conversation is stored again. */
export class GrownEvent extends CustomEvent<{ readonly id: string; readonly turn: Turn }> {
  constructor(id: string, turn: Turn) {
    super('vivace-writing', { detail: { id, turn }, bubbles: true, composed: true });
  }
}

/** `vivace-run`: an answer is about to be asked for. */
export interface AskedRun {
  /** Unique. The turn of the answer has it too. */
  id: string;
  /** The options of the answer, without those that the engine chooses. */
  sampling: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** The element that shows the conversation. */
export interface ChatHost
  extends Pick<Element, 'dispatchEvent' | 'isConnected'>,
    Pick<ReactiveControllerHost, 'addController' | 'requestUpdate'> {
  readonly engine: ChatEngine | null;
  /** The name that people know the model by, or ''. */
  readonly modelName?: string;
  /** The progress of a tuner or a measurement, or null when none runs. Questions wait for it. */
  readonly tuning: { isRepeat?: boolean } | null;
  readonly sampling: SamplingSettings;
  readonly thinking: Thinking;
  /** The constraint of answers, or null for text. */
  readonly constraint?: Constraint | null;
  /** Shows what has changed in one turn. */
  refreshTurn(turn: Turn): void;
}

/** The longest that a question waits for its storage before the engine is asked. */
const STORED_WITHIN_MS = 1_000;
/** The longest that a stopped answer waits for its engine. */
const STOPPED_WITHIN_MS = 1_000;
/** Milliseconds between two times that the text of a streaming answer is kept. */
const KEEP_GROWN_MS = 150;
/** Milliseconds until a changed system message is stored. */
const KEEP_MS = 500;
/** Milliseconds between two announcements that a long answer goes on. */
const STILL_WRITING_MS = 30_000;

export class ChatSession implements ReactiveController {
  steps: readonly Step[] = [];
  /** The newest text for screen readers. */
  announcement = '';
  /** Holds the questions that wait for the tuner. */
  private readonly tuned = new Gate();
  private current = newConversation();
  private run: AnswerRun | null = null;
  private keepTimer: ReturnType<typeof setTimeout> | undefined;
  private grownTimer: ReturnType<typeof setTimeout> | undefined;
  /** The turn whose text waits for `grownTimer`. */
  private grownTurn: Turn | null = null;
  private grownAt = Number.NEGATIVE_INFINITY;
  private ticker: ReturnType<typeof setInterval> | undefined;
  private hasWarned = false;
  /** The engines that have refused to continue an answer. */
  private readonly unable = new WeakSet<ChatEngine>();

  constructor(private readonly host: ChatHost) {
    host.addController(this);
  }

  hostUpdated(): void {
    if (!this.host.tuning) this.tuned.open();
  }

  hostConnected(): void {
    // Captures: the library hears of the end of the page later, and writes the text then.
    addEventListener('pagehide', this.keepWaiting, { capture: true });
  }

  hostDisconnected(): void {
    removeEventListener('pagehide', this.keepWaiting, { capture: true });
    whenRemoved(this.host, () => this.leave());
  }

  announce(text: string): void {
    if (text === this.announcement) return;
    this.announcement = text;
    this.host.requestUpdate();
  }

  get conversation(): Conversation {
    return this.current;
  }

  get isAnswering(): boolean {
    return this.run !== null;
  }

  /** The turns of the branch shown. */
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

  /**
   * True if the model reads turns before the newest. A model without a template reads one message at a time, so that
   * there is nothing to forget.
   */
  get canForget(): boolean {
    return this.host.engine?.info.hasChatTemplate === true && this.memoryStart < this.path.length - 1;
  }

  /** True if the model's thinking can be switched on and off. */
  get canSwitchThinking(): boolean {
    return this.host.engine?.info.thinking === 'optional';
  }

  /** Shows another conversation. An answer under way ends with the text so far. */
  open(conversation: Conversation): void {
    this.leave();
    if (this.keepTimer !== undefined) this.keep(); // the timer's write is of the old conversation
    this.hasWarned = false;
    this.show(settled(conversation));
  }

  /** Sets the system message of this conversation, from the next question on. */
  setSystem(system: string): void {
    this.show({ ...this.current, system, updatedAt: Date.now() });
    this.keepSoon();
  }

  /** Asks after the newest turn. */
  ask(question: string, attachments: readonly Attachment[] = []): void {
    if (!this.host.engine || this.run) return;
    void this.answer(addTurn(this.current, this.steps.at(-1)?.turn.id ?? null, question, attachments));
  }

  /** Asks in the place of a turn: an edited question, or the same one for another answer. */
  askInstead(turn: Turn, question = turn.question, makesRoom = false, attachments = turn.attachments): void {
    if (!this.host.engine || this.run) return;
    void this.answer(replaceTurn(this.current, turn, question, attachments), makesRoom);
  }

  /** True if the answer was cut, is the newest one, and the model may go on with it. */
  canContinue(turn: Turn): boolean {
    const { engine } = this.host;
    if (!isCut(turn) || turn !== this.steps.at(-1)?.turn || (engine && this.unable.has(engine))) return false;
    return !this.isFull && this.memoryStart < this.steps.length;
  }

  /** Goes on with the answer of the newest turn. With `makesRoom` the model forgets what it must for that. */
  continueAnswer(turn: Turn, makesRoom = false): void {
    if (!this.host.engine || this.run || !this.canContinue(turn)) return;
    void this.answer({ conversation: this.current, turn }, makesRoom, true);
  }

  /** Frees half of the context. Asks a question again, or continues an answer, that had no room. */
  makeRoom(turn: Turn): void {
    const { engine } = this.host;
    if (turn.state === 'done' && turn.advice) this.continueAnswer(turn, true);
    else if (!engine || this.run || !this.forget(engine.info.contextLength / 2)) return;
    else if (turn.state === 'error') this.askInstead(turn, turn.question, true);
    else {
      this.hasWarned = false;
      this.announce(words().spoken.forgets);
      this.keep();
    }
  }

  /** Shows the version of a question or answer before or after it, and returns its turn if there is one. */
  showVersion(step: Step, of: VersionOf, by: 1 | -1): Turn | undefined {
    const next = versionBeside(step, of, by);
    if (next) {
      this.show(showTurn(this.current, next));
      this.keep();
    }
    return next;
  }

  /** Brings the branch of a turn into view, and returns the turn's place on it, or -1 if the turn is unknown. */
  showBranchOf(id: string): number {
    const place = () => this.steps.findIndex(({ turn }) => turn.id === id);
    const turn = this.current.turns.find((other) => other.id === id);
    if (turn && place() < 0) this.show(showBranchOf(this.current, turn));
    return place();
  }

  /** Asks the engine to end the answer under way. The text so far stays. */
  stop(): void {
    const { run } = this;
    if (!run) return;
    run.stop();
    setTimeout(() => {
      if (this.run === run) this.leave();
    }, STOPPED_WITHIN_MS);
  }

  /** Ends an answer under way at once. */
  leave(): void {
    const { run } = this;
    if (!run) return;
    run.leave();
    this.finish(run.turn);
  }

  /** Dispatches the conversation to be stored. Returns the writes that its listeners began. */
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

  /** Keeps the text of the turn that streams: by the clock, because a hidden page's timers come seconds late. */
  private keepGrown(turn: Turn): void {
    const wait = this.grownAt + KEEP_GROWN_MS - performance.now();
    if (wait > 0) {
      this.grownTurn = turn;
      this.grownTimer ??= setTimeout(() => {
        this.endGrown(); // a timer may come a little early
        this.keepGrown(turn);
      }, wait);
      return;
    }
    this.endGrown();
    this.grownAt = performance.now();
    this.tellGrown(turn);
  }

  /** The conversation without attachments, which are stored with the question: this runs six times a second. */
  private tellGrown(turn: Turn): void {
    const light = turn.attachments.length > 0 ? { ...turn, attachments: [] } : turn;
    this.host.dispatchEvent(new GrownEvent(this.current.id, light));
  }

  private endGrown(): void {
    clearTimeout(this.grownTimer);
    this.grownTimer = undefined;
    this.grownTurn = null;
  }

  /** Hands over the text that waits for its timer, while the page closes. */
  private readonly keepWaiting = (): void => {
    const turn = this.grownTurn;
    this.endGrown();
    if (turn) this.tellGrown(turn);
  };

  private show(conversation: Conversation): void {
    this.current = conversation;
    this.steps = shownSteps(conversation);
    this.host.requestUpdate();
  }

  /** Asks the engine. With `makesRoom` an overflowing question is repeated with fewer messages, down to its own. */
  private async answer(
    { conversation, turn }: { conversation: Conversation; turn: Turn },
    makesRoom = false,
    goesOn = false,
  ) {
    const engine = this.host.engine!;
    const writer = this.host.modelName || engine.info.model.name;
    const run = new AnswerRun(turn, writer, (event, isSeen) => this.onEvent(turn, event, isSeen), goesOn);
    this.run = run;
    this.show(conversation);
    const keeping = this.keep(true);
    this.announce(goesOn ? words().spoken.goesOn : '');
    this.ticker = setInterval(() => {
      if (turn.answer) this.announce(words().spoken.writing(countWords(turn.answer)));
      else if (turn.reasoning) this.announce(words().spoken.thinking(countWords(turn.reasoning)));
    }, STILL_WRITING_MS);
    if (keeping.length > 0) await run.outlasts(Promise.allSettled(keeping), STORED_WITHIN_MS);
    // A part thinks if the answer did: thinking that goes on cannot be off.
    const isOff = goesOn ? turn.reasoning === '' : this.host.thinking === 'off';
    const options = this.canSwitchThinking ? { thinking: isOff ? ('off' as const) : ('on' as const) } : {};
    if (await this.mayBegin(run)) {
      const sampling = { ...toOptions(this.host.sampling), ...options };
      // What goes on may be text that was begun without the constraint.
      const constraint = goesOn && !/^\s*[{[]/.test(turn.answer) ? null : this.host.constraint;
      turn.run = uniqueId();
      this.host.dispatchEvent(new CustomEvent<AskedRun>('vivace-run', { detail: { id: turn.run, sampling } }));
      for (let room = engine.info.contextLength / 2; ; room /= 2) {
        await run.ask(engine, this.messages(turn), constraint ? { ...sampling, constraint } : sampling);
        if (run.isLeft || !run.hasOverflowed || !makesRoom || !this.forget(room, pathTo(this.current, turn))) break;
      }
    }
    if (run.isUnable) this.unable.add(engine);
    if (!run.isLeft) this.finish(turn);
  }

  /** Waits while a tuner has the GPU. False if the question was stopped meanwhile. */
  private async mayBegin(run: AnswerRun): Promise<boolean> {
    if (run.endsUnasked()) return false;
    if (!this.host.tuning) return true;
    const { measuring, turn, spoken } = words();
    run.turn.waitsFor = this.host.tuning.isRepeat ? measuring.waits : turn.tuning;
    this.host.refreshTurn(run.turn);
    this.announce(this.host.tuning.isRepeat ? measuring.waitsLong : spoken.waitsForTuning);
    const passes = await run.passes(this.tuned);
    this.host.refreshTurn(run.turn);
    return passes;
  }

  /** The messages to answer a turn from. The branch shown may be another by now. */
  private messages(turn: Turn) {
    const path = pathTo(this.current, turn);
    return toMessages(path.slice(memoryStart(path, this.current.memory)), this.current.system);
  }

  private onEvent(turn: Turn, event: EngineEvent, isSeen: boolean): void {
    const text = words().spoken;
    this.host.dispatchEvent(new CustomEvent<EngineEvent>('vivace-event', { detail: event }));
    if (event.type === 'interrupted') this.announce(text.waitsForModel(lossOf(event.code)));
    if (event.type === 'recovered') this.announce(text.goesOn);
    if (!isSeen) return;
    if (event.type === 'token' && turn.answer.length === event.text.length) this.announce(text.begins);
    if (event.type === 'reasoning' && turn.reasoning.length === event.text.length) this.announce(text.thinks);
    this.host.refreshTurn(turn);
    if (turn.state === 'streaming') this.keepGrown(turn);
  }

  private finish(turn: Turn): void {
    this.run?.settle();
    this.run = null;
    this.endGrown();
    clearInterval(this.ticker);
    this.host.dispatchEvent(new CustomEvent('vivace-end'));
    this.host.requestUpdate();
    this.host.refreshTurn(turn);
    this.announce(turn.advice ? '' : this.describe(turn)); // a failure speaks for itself
    this.keep();
  }

  private describe(turn: Turn): string {
    if (endedInThought(turn)) return `${endRemark(turn, this.canSwitchThinking)?.replace(/\.$/, '')}.`;
    const { finishReason, answer } = turn;
    const part = (this.contextTokens ?? 0) / (this.host.engine?.info.contextLength || Number.POSITIVE_INFINITY);
    const warns = part > NEARLY_FULL && !this.hasWarned; // once
    this.hasWarned = part > NEARLY_FULL;
    const { stopped, complete, full } = words().spoken;
    const end = (finishReason === 'abort' ? stopped : complete)(countWords(answer));
    return warns ? `${end} ${full(percentText(part))}` : end;
  }

  /** Makes the model forget the oldest turns; false if there were none. */
  private forget(room: number, path: readonly Turn[] = this.path): boolean {
    const memory = forgetOldest(path, this.current.memory, room);
    if (memory) this.show({ ...this.current, memory, updatedAt: Date.now() });
    return memory !== undefined;
  }
}
