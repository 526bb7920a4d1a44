// <vivace-chat>: shows the conversation with one engine, and computes nothing. Its events are in chat_events.ts.

import { html, nothing, type PropertyValues } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { ChatEngine, Constraint, Health, SamplingDefaults } from '../../engine/engine';
import type { Listen } from '../../shared/listen';
import { WordedElement } from '../../words/worded_element';
import { words } from '../../words/words';
import { type Offer, settingsAfter } from '../shared/advice';
import { ChatAttachments, type ReadFiles } from './chat_attachments';
import type { ChatEvents } from './chat_events';
import { ChatKeys } from './chat_keys';
import {
  renderAttached,
  renderEmpty,
  renderHealth,
  renderMemoryLine,
  renderMeter,
  renderThinking,
  renderTuning,
  renderWhyNot,
  type Tuning,
} from './chat_parts';
import { type ChatHost, ChatSession } from './chat_session';
import { chatStyles } from './chat_styles';
import { HealthWatch } from './health_watch';
import './composer';
import type { Attachment } from '../conversation/attachments';
import { isThinking, type Turn } from '../conversation/conversation';
import { type Conversation, newConversation, type Step } from '../conversation/conversation_tree';
import { type VersionOf, versionsOf } from '../conversation/versions';
import type { SettingsScope, VivaceSettings } from '../settings/settings';
import {
  type LoadSettings,
  type SamplingSettings,
  STANDARD_LOAD,
  standardSampling,
  type Thinking,
} from '../settings/settings_fields';
import { forModel, withoutOwn } from '../settings/settings_presets';
import { readRemembered, writeRemembered } from '../settings/settings_store';
import { icons } from '../shared/icons';
import { recoveryStyles } from '../shared/recovery';
import { sharedStyles } from '../shared/shared_styles';
import type { VivaceComposer } from './composer';
import { ScrollKeeper } from './scroll_keeper';
import '../turn/turn';
import type { TurnAction, VivaceTurn } from '../turn/turn';

/** Turns shown at first, and added by each press of the button above them. */
const TURNS_AT_ONCE = 200;

export class VivaceChat extends WordedElement implements ChatHost {
  static override styles = [sharedStyles, recoveryStyles, chatStyles];
  static override properties = {
    engine: { attribute: false },
    loadSettings: { attribute: false },
    examples: { attribute: false },
    tellsStories: { attribute: false },
    readFiles: { attribute: false },
    tuning: { attribute: false },
    opensRuns: { attribute: false },
    remember: { type: Boolean },
    shortcuts: { type: Boolean },
    heading: {},
    system: {},
    welcome: {},
    placeholder: {},
    modelName: {},
    settings: {},
    figures: {},
    thinking: {},
    sampling: { state: true },
    limit: { state: true },
    waiting: { state: true },
    following: { state: true },
  };
  declare addEventListener: Listen<ChatEvents>;
  declare removeEventListener: Listen<ChatEvents>;
  /** Null while there is no model. The reader can write already. */
  declare engine: ChatEngine | null;
  declare loadSettings: LoadSettings;
  /** The questions that the empty conversation offers. Null: stories, if the model tells them. */
  declare examples: readonly string[] | null;
  /** True if the model is the storyteller: the empty conversation asks for stories. */
  declare tellsStories: boolean;
  /** Reads files that come with a question. Null: the chat takes none. The page brings it, with their elements. */
  declare readFiles: ReadFiles | null;
  /**
   * The tuner's progress, or null when none runs. Questions wait for it, because each would spoil the other's times.
   */
  declare tuning: Tuning | null;
  /** True while a panel shows the run of an answer on `vivace-open-run`. */
  declare opensRuns: boolean;
  /** True if this browser keeps the last settings and system prompt. For a page of its own. */
  declare remember: boolean;
  /** True if the chat takes its keys from the whole document (chat_keys). For a page of its own. */
  declare shortcuts: boolean;
  /** Headline of the empty conversation, if it has one of its own. */
  declare heading: string;
  /** The system message of new conversations, or '', until a reader writes another. */
  declare system: string;
  /** The text under the headline of the empty conversation. By default, for a model of this page: where text stays. */
  declare welcome: string;
  /** The text in the empty field of an empty conversation, if it has a text of its own. */
  declare placeholder: string;
  /** The name that people know the model by, under each answer. Empty: that of the model's file. */
  declare modelName: string;
  /** The settings that a reader may change. */
  declare settings: SettingsScope | 'off';
  /** `off`: no times under an answer. */
  declare figures: 'on' | 'off';
  declare sampling: SamplingSettings;
  /** The switch of thinking, for chat templates that have one. */
  declare thinking: Thinking;
  declare private limit: number;
  /** The question that is sent when the model comes, unless the reader edits it or leaves its conversation. */
  declare private waiting: { text: string; conversation: string } | null;
  declare private following: boolean;

  /** The constraint of answers, or null for text. */
  constraint: Constraint | null = null;
  /** Gives the key of the server that an element's attributes name, after the reader's consent. */
  serverKey: () => string | Promise<string> = () => '';
  private readonly session = new ChatSession(this);
  private readonly attached = new ChatAttachments(() => this.requestUpdate());
  private keeper: ScrollKeeper | null = null;
  /** The last model's suggestions for sampling. */
  private suggested: SamplingDefaults | undefined;
  /** The element of the turn that changed last. */
  private newest: VivaceTurn | null = null;

  constructor() {
    super();
    this.engine = null;
    this.loadSettings = STANDARD_LOAD;
    this.examples = null;
    this.tellsStories = true;
    this.readFiles = null;
    this.tuning = null;
    this.opensRuns = false;
    this.remember = false;
    this.shortcuts = false;
    this.heading = '';
    this.system = '';
    this.welcome = '';
    this.placeholder = '';
    this.modelName = '';
    this.settings = 'all';
    this.figures = 'on';
    this.thinking = 'on';
    this.sampling = standardSampling();
    this.waiting = null;
    this.limit = TURNS_AT_ONCE;
    this.following = true;
    new ChatKeys(this);
    new HealthWatch(this, this.onHealth);
  }

  /** The conversation shown. Setting another one ends an answer under way with the text so far; the engine stays. */
  get conversation(): Conversation {
    return this.session.conversation;
  }

  set conversation(conversation: Conversation) {
    if (conversation === this.session.conversation) return;
    this.session.open(conversation);
    this.limit = TURNS_AT_ONCE;
    this.keeper?.jumpToEnd();
  }

  get isStreaming(): boolean {
    return this.session.isAnswering;
  }

  /** Asks the engine to end the answer under way. The text so far stays. */
  stop(): void {
    if (!this.isStreaming) return;
    this.session.stop();
    this.focusAfter();
  }

  newConversation(): void {
    if (this.session.steps.length > 0) {
      this.conversation = newConversation(this.system);
      this.session.keep();
    }
    this.focus();
  }

  /** Attaches text files to the next question. */
  async attach(files: readonly File[]): Promise<void> {
    if (!this.readFiles) return;
    await this.attached.add(files, this.conversation.turns, this.readFiles);
    this.focus();
  }

  /** Scrolls to a turn of the conversation, on whichever branch it is, and lights it up for a moment. */
  async showTurn(id: string): Promise<void> {
    const at = this.session.showBranchOf(id);
    if (at < 0) return;
    this.limit = Math.max(this.limit, this.session.steps.length - at);
    await this.updateComplete;
    const element = this.renderRoot.querySelector<HTMLElement>(`vivace-turn[data-id="${id}"]`);
    if (element) void this.keeper?.show(element);
  }

  override focus(): void {
    this.composer?.focus();
  }

  /** Runs for every token, so it does next to nothing. */
  refreshTurn(turn: Turn): void {
    if (this.newest?.turn !== turn || !this.newest.isConnected) this.newest = this.elementOf(turn);
    this.newest?.refresh();
  }

  override render() {
    const { session } = this;
    const text = words().chat;
    const isEmpty = session.steps.length === 0;
    return html`
      <div class="scroller" tabindex="-1" role="log" aria-live="off" aria-label=${text.log}>
        <div class="column">
          <slot name="notice" @vivace-dismissed=${this.focusAfter}></slot>
          ${isEmpty ? renderEmpty(this, this.onExample) : this.renderTurns()}
          ${isEmpty ? nothing : html`<slot name="loading"></slot>`}
        </div>
      </div>
      <div class="dock">
        ${
          this.following || isEmpty
            ? nothing
            : html`<button class="icon latest" title=${text.latest} aria-label=${text.latest}
                @click=${() => this.keeper?.jumpToEnd()}>${icons.down}</button>`
        }
        ${this.tuning ? renderTuning(this.tuning, this.onCancelTuning) : nothing}
        ${this.writesNoText ? renderWhyNot('writes-no-text', words().advice.writesNoText) : nothing}
        ${this.waiting?.conversation === this.conversation.id && !this.engine ? renderWhyNot('sent-when-ready', text.sentWhenReady) : nothing}
        ${this.renderHealth()}
        <vivace-composer placeholder=${this.attached.files.length > 0 ? text.askAboutFiles : isEmpty ? this.placeholder || (this.tellsStories ? text.stories : text.anything).ask : text.reply} ?streaming=${this.isStreaming}
          blocked=${this.unready} @input=${this.onEdit} @vivace-wait=${this.onWait} @vivace-send=${this.onSend} @vivace-stop=${this.stop} @vivace-recall=${this.onRecall} @paste=${this.onPaste}>
          ${renderAttached(this.attached)}
          ${this.readFiles ? html`<vivace-attach @vivace-attach=${this.onAttach}></vivace-attach>` : nothing}
          ${this.settings === 'off' ? nothing : html`<vivace-settings scope=${this.settings} .sampling=${this.sampling} .system=${this.conversation.system} .loaded=${this.loadSettings} .info=${this.engine?.info ?? null} @vivace-settings=${this.onSettings} @vivace-system=${this.onSystem} @vivace-answer-form=${this.onAnswerForm}><slot name="settings"></slot></vivace-settings>`}
          <button class="icon" data-testid="new-conversation" title=${text.fresh} aria-label=${text.fresh}
            ?disabled=${isEmpty} @click=${this.newConversation}>${icons.fresh}</button>
          ${renderMeter(session.contextTokens, this.engine?.info.contextLength)}
          ${session.canSwitchThinking ? renderThinking(this.thinking === 'on', this.onThinking) : nothing}
        </vivace-composer>
        <slot name="line"></slot>
      </div>
      <div class="unseen" role="status" data-testid="status">${session.announcement}</div>
    `;
  }

  /** The state of an engine that is not well, unless the last turn shows it. */
  private renderHealth() {
    const { health, engine, session } = this;
    if (!engine || health.state === 'well' || (health.state === 'recovering' && this.isStreaming)) return nothing;
    const isTold = session.steps.at(-1)?.turn.advice?.offers.includes('reload') ?? false;
    if (health.state === 'lost' && isTold) return nothing;
    return renderHealth(health, engine.info.backend, (offer) => this.reload(offer));
  }

  private renderTurns() {
    const { steps, memoryStart, isFull, canForget, canSwitchThinking } = this.session;
    const { health } = this;
    const recovery = health.state === 'recovering' ? health : null;
    const hidden = Math.max(0, steps.length - this.limit);
    const last = steps.length - 1;
    const blocked = this.isStreaming ? words().chat.waitForEnd : this.unready;
    return html`
      ${
        hidden > 0
          ? html`<button class="button earlier" data-testid="earlier" @click=${this.onEarlier}>${words().chat.earlier}</button>`
          : nothing
      }
      ${repeat(
        steps.slice(hidden),
        ({ turn }) => turn.id,
        (step, i) => {
          const { question, answer } = versionsOf(step);
          return html`${i + hidden === memoryStart && memoryStart > 0 ? renderMemoryLine() : nothing}
          <vivace-turn data-id=${step.turn.id} .turn=${step.turn} .questionPlace=${question.place} .questionPlaces=${question.places}
            .answerPlace=${answer.place} .answerPlaces=${answer.places}
            .isLast=${i + hidden === last} .isFull=${isFull && i + hidden === last} .canForget=${canForget && i + hidden === last}
            .canSwitch=${canSwitchThinking} .canContinue=${this.session.canContinue(step.turn)} .blocked=${blocked} .opensRun=${this.opensRuns} .hasFigures=${this.figures !== 'off'} .recovery=${step.turn.state === 'streaming' ? recovery : null} @vivace-turn=${(event: CustomEvent<TurnAction>) => this.onTurn(step, event.detail)}></vivace-turn>`;
        },
      )}
      ${memoryStart > last ? renderMemoryLine() : nothing}`;
  }

  protected override firstUpdated(): void {
    const element = (name: string) => this.renderRoot.querySelector<HTMLElement>(name)!;
    this.keeper = new ScrollKeeper(element('.scroller'), element('.column'), (isFollowing) => {
      this.following = isFollowing;
    });
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('remember') && this.remember) {
      const { sampling, system, thinking } = readRemembered();
      this.sampling = sampling;
      this.thinking = thinking;
      this.system ||= system;
    }
    const isNew = this.session.steps.length === 0 && this.conversation.system !== this.system;
    if (changed.has('system') && isNew) this.session.open({ ...this.conversation, system: this.system });
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('engine') && this.engine !== (changed.get('engine') ?? null)) this.onEngine();
    const isEmpty = this.session.steps.length === 0;
    this.keeper?.setEmpty(isEmpty);
    this.toggleAttribute('data-started', !isEmpty); // for the layout of the page
  }

  private onEngine(): void {
    this.dispatchEvent(new CustomEvent('vivace-engine'));
    if (!this.engine) return;
    this.suggest();
    if (this.writesNoText) this.session.announce(words().advice.writesNoText);
    this.sendWaiting();
  }

  /** Takes over what the model suggests for sampling. */
  private suggest(): void {
    const suggested = this.engine?.info.samplingDefaults;
    this.sampling = forModel(this.sampling, this.suggested, suggested);
    this.suggested = suggested;
  }

  private onHealth = () => {
    if (this.suggested !== this.engine?.info.samplingDefaults) this.suggest(); // another model answers now
    this.requestUpdate();
    this.dispatchEvent(new CustomEvent('vivace-health'));
  };

  private get health(): Health {
    return this.engine?.health ?? { state: 'well' };
  }

  private sendWaiting(): void {
    const { waiting, composer } = this;
    this.waiting = null;
    if (waiting && composer?.value === waiting.text && this.conversation.id === waiting.conversation) composer.send();
  }

  /** The reason why the model cannot be asked, or ''. */
  private get unready(): string {
    if (!this.engine) return words().chat.notReady;
    if (this.engine.lost) return words().chat.reloadFirst;
    return this.writesNoText ? words().advice.writesNoText : '';
  }

  /** True for a model that can only embed text. */
  private get writesNoText(): boolean {
    return this.engine !== null && !this.engine.lost && this.engine.info.embeddings.only;
  }

  private get composer(): VivaceComposer | null {
    return this.renderRoot?.querySelector('vivace-composer') ?? null;
  }

  private get scroller(): HTMLElement | null {
    return this.renderRoot.querySelector('.scroller');
  }

  private elementOf(turn: Turn): VivaceTurn | null {
    return this.renderRoot.querySelector<VivaceTurn>(`vivace-turn[data-id="${turn.id}"]`);
  }

  /** Moves the focus from an element that is gone. On touch screens a focused field would open the keyboard. */
  private focusAfter(): void {
    if (matchMedia('(hover: hover)').matches) this.focus();
    else this.scroller?.focus();
  }

  private rememberAll(): void {
    if (this.remember)
      writeRemembered({
        sampling: withoutOwn(this.sampling, this.suggested),
        system: this.system,
        thinking: this.thinking,
      });
  }

  private onSend = (event: CustomEvent<string>) => {
    this.session.ask(event.detail, this.attached.take());
    this.keeper?.jumpToEnd();
  };

  private onAttach = (event: CustomEvent<File[]>) => void this.attach(event.detail);

  /** Takes pasted files, but not the picture that comes with the text of some programs. */
  private onPaste = (event: ClipboardEvent) => {
    const { files, types } = event.clipboardData ?? {};
    if (!this.readFiles || !files?.length || types?.includes('text/plain')) return;
    event.preventDefault();
    void this.attach([...files]);
  };

  private onExample = (example: string) => {
    if (this.engine && !this.isStreaming) this.session.ask(example);
    else {
      void this.composer?.edit(example);
      this.onWait();
    }
  };

  /** The message in the composer waits for the model. */
  private onWait = () => {
    if (this.engine) return;
    this.waiting = { text: this.composer?.value ?? '', conversation: this.conversation.id };
    this.session.announce(words().chat.sentWhenReady);
  };

  /** Hears every field in the composer, those of the settings, too. */
  private onEdit = () => {
    if (this.composer?.value !== this.waiting?.text) this.waiting = null;
  };

  private onCancelTuning = () => {
    this.dispatchEvent(new CustomEvent('vivace-cancel-tuning'));
  };

  private onSettings = (event: CustomEvent<SamplingSettings>) => {
    this.sampling = event.detail;
    this.rememberAll();
  };

  private onAnswerForm = (event: CustomEvent<Constraint | null>) => {
    this.constraint = event.detail;
  };

  private onThinking = () => {
    this.thinking = this.thinking === 'on' ? 'off' : 'on';
    this.rememberAll();
  };

  private onSystem = (event: CustomEvent<string>) => this.setSystem(event.detail);

  /** Sets the system message of this conversation and of new ones. */
  private setSystem(system: string): void {
    this.system = system;
    this.session.setSystem(system);
    this.rememberAll();
  }

  private onRecall = () => {
    const last = this.session.steps.at(-1);
    if (last) this.elementOf(last.turn)?.edit();
  };

  private onEarlier = async () => {
    const first = this.session.steps.at(-this.limit)!.turn;
    await this.keeper?.hold(
      () => this.elementOf(first),
      () => {
        this.limit += TURNS_AT_ONCE;
        return this.updateComplete;
      },
    );
    if (!this.shadowRoot?.activeElement) this.scroller?.focus(); // the button is gone
  };

  private onTurn(step: Step, action: TurnAction): void {
    if (action.kind === 'step') void this.showVersion(step, action.of, action.by);
    else if (action.kind === 'offer') this.onOffer(step.turn, action.offer);
    else if (action.kind === 'run') this.dispatchEvent(new CustomEvent('vivace-open-run', { detail: step.turn.run }));
    else if (action.kind === 'fold') this.onFold(step.turn, action.toggled);
    else if (action.kind === 'continue') this.continueAnswer(step.turn);
    else if (action.kind === 'limit') void this.showSetting('maxTokens');
    else this.askInstead(step.turn, action.question, action.attachments);
  }

  /** Opens the settings at one of them. They may come later than the chat. */
  private async showSetting(key: keyof SamplingSettings): Promise<void> {
    await customElements.whenDefined('vivace-settings');
    this.renderRoot.querySelector<VivaceSettings>('vivace-settings')?.show(key);
  }

  /** Keeps the folded line in its place, unless the reader follows the thinking as it comes. */
  private onFold(turn: Turn, toggled: Promise<unknown>): void {
    const mark = () => this.elementOf(turn);
    if (!isThinking(turn)) void this.keeper?.hold(mark, () => toggled);
  }

  private askInstead(turn: Turn, question?: string, attachments?: readonly Attachment[]): void {
    this.session.askInstead(turn, question, false, attachments);
    this.keeper?.jumpToEnd();
    this.focusAfter();
  }

  private continueAnswer(turn: Turn): void {
    this.session.continueAnswer(turn);
    this.keeper?.jumpToEnd();
    this.focusAfter();
  }

  private async showVersion(step: Step, of: VersionOf, by: 1 | -1): Promise<void> {
    let shown = step.turn;
    await this.keeper?.hold(
      () => this.elementOf(shown),
      () => {
        shown = this.session.showVersion(step, of, by) ?? shown;
        return this.updateComplete;
      },
    );
    this.elementOf(shown)?.focusStep(of, by);
  }

  private onOffer(turn: Turn, offer: Offer): void {
    switch (offer) {
      case 'new':
        this.newConversation();
        break;
      case 'retry':
        this.askInstead(turn);
        break;
      case 'continue':
        this.continueAnswer(turn);
        break;
      case 'no-system':
        this.setSystem('');
        this.askInstead(turn);
        break;
      case 'forget':
        this.session.makeRoom(turn);
        this.focusAfter();
        break;
      case 'edit':
        this.elementOf(turn)?.edit();
        break;
      case 'reload':
      case 'auto-attention':
      case 'cpu':
        this.reload(offer);
        break;
      case 'keep':
      case 'former':
        break; // offered by a failed load alone
      default:
        offer satisfies never;
    }
  }

  private reload(offer: Offer): void {
    const detail = settingsAfter(offer, this.loadSettings);
    this.dispatchEvent(new CustomEvent<LoadSettings>('vivace-reload', { detail, bubbles: true, composed: true }));
  }
}

if (!customElements.get('vivace-chat')) customElements.define('vivace-chat', VivaceChat);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-chat': VivaceChat;
  }
}
