// <vivace-chat>: the conversation with one engine. It asks, listens and shows; it computes nothing.
// Fires `vivace-run` and `vivace-end` around an answer, `vivace-event` with every engine event, `vivace-reload` when the
// model must be loaded again, `vivace-cancel-tuning` when the reader would rather have an answer.

import { html, LitElement, nothing, type PropertyValues } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { Engine, EngineEvent } from '../engine/engine';
import { adviseRun, isAbort, type Offer, settingsAfter } from './advice';
import { renderEmpty, renderMeter, renderTuning, type Tuning } from './chat_parts';
import { chatStyles } from './chat_styles';
import './composer';
import type { VivaceComposer } from './composer';
import { contextTokens, newTurn, type Turn, takeEvent, toMessages } from './conversation';
import { Gate } from './gate';
import { icons } from './icons';
import { ScrollKeeper } from './scroll_keeper';
import './settings';
import {
  type LoadSettings,
  type SamplingSettings,
  STANDARD_LOAD,
  standardSampling,
  toGenerateOptions,
} from './settings_fields';
import { sharedStyles } from './shared_styles';
import './turn';
import type { VivaceTurn } from './turn';

const STORY_EXAMPLES = [
  'Tell me a story about a brave cat',
  'Tell me a bedtime story about a sleepy bear',
  'Tell me a story about a little red car',
];

export class VivaceChat extends LitElement {
  static override styles = [sharedStyles, chatStyles];
  static override properties = {
    engine: { attribute: false },
    loadSettings: { attribute: false },
    examples: { attribute: false },
    tuning: { attribute: false },
    canOpen: { type: Boolean, attribute: 'can-open' },
    heading: {},
    system: {},
    welcome: {},
    turns: { state: true },
    sampling: { state: true },
    following: { state: true },
    announcement: { state: true },
  };
  /** Null while there is no model; writing works already. */
  declare engine: Engine | null;
  declare loadSettings: LoadSettings;
  declare examples: readonly string[];
  /** While a tuner has the GPU, else null. A question waits for it: what it would do to the times of both nobody wants. */
  declare tuning: Tuning | null;
  /** The settings offer to open model files; whoever hosts the chat hears `vivace-open`. */
  declare canOpen: boolean;
  /** Headline of the empty conversation. */
  declare heading: string;
  /** A system message before the conversation, if any. */
  declare system: string;
  /** What the empty conversation says under its headline; by default what the model is. */
  declare welcome: string;
  declare turns: Turn[];
  declare sampling: SamplingSettings;
  declare following: boolean;
  declare announcement: string;

  private abort: AbortController | null = null;
  private readonly tuned = new Gate();
  private keeper: ScrollKeeper | null = null;

  constructor() {
    super();
    this.engine = null;
    this.loadSettings = STANDARD_LOAD;
    this.examples = STORY_EXAMPLES;
    this.tuning = null;
    this.canOpen = false;
    this.heading = 'Once upon a time…';
    this.system = '';
    this.welcome = '';
    this.turns = [];
    this.sampling = standardSampling();
    this.following = true;
    this.announcement = '';
    this.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.abort && !event.defaultPrevented) this.stop();
    });
  }

  get isStreaming(): boolean {
    return this.abort !== null;
  }

  stop(): void {
    this.abort?.abort();
  }

  newConversation(): void {
    this.stop();
    this.turns = [];
    this.composer?.focus();
  }

  override focus(): void {
    this.composer?.focus();
  }

  override render() {
    const busy = this.isStreaming;
    return html`
      <div class="scroller" tabindex="-1" role="log" aria-live="off" aria-label="Conversation">
        <div class="column" @vivace-grown=${() => this.keeper?.follow()}>
          <slot name="notice"></slot>
          ${this.turns.length === 0 ? renderEmpty(this, (example) => this.onExample(example)) : nothing}
          ${repeat(
            this.turns,
            (turn) => turn.id,
            (
              turn,
              i,
            ) => html`<vivace-turn data-id=${turn.id} .turn=${turn} ?isLast=${i === this.turns.length - 1} ?busy=${busy}
              @vivace-offer=${(event: CustomEvent<Offer>) => this.onOffer(event.detail)}></vivace-turn>`,
          )}
          ${this.turns.length > 0 ? html`<slot name="loading"></slot>` : nothing}
        </div>
      </div>
      <div class="dock">
        ${
          this.following || this.turns.length === 0
            ? nothing
            : html`<button class="icon latest" title="To the newest text" aria-label="To the newest text"
                @click=${() => this.keeper?.jumpToEnd()}>${icons.down}</button>`
        }
        ${this.tuning ? renderTuning(this.tuning, this.onCancelTuning) : nothing}
        <vivace-composer placeholder=${this.turns.length === 0 ? 'Ask for a story, or for anything' : 'Go on'}
          ?streaming=${busy} ?ready=${this.engine !== null} @vivace-send=${(e: CustomEvent<string>) => this.ask(e.detail)}
          @vivace-stop=${this.stop}>
          <vivace-settings .sampling=${this.sampling} .loaded=${this.loadSettings} ?canOpen=${this.canOpen}
            @vivace-settings=${this.onSettings}></vivace-settings>
          <button class="icon" data-testid="new-conversation" title="New conversation" aria-label="New conversation"
            ?disabled=${this.turns.length === 0} @click=${this.newConversation}>${icons.fresh}</button>
          ${renderMeter(contextTokens(this.turns), this.engine?.info.contextLength)}
        </vivace-composer>
      </div>
      <div class="unseen" role="status">${this.announcement}</div>
    `;
  }

  protected override firstUpdated(): void {
    this.keeper = new ScrollKeeper(this.renderRoot.querySelector<HTMLElement>('.scroller')!, (isFollowing) => {
      this.following = isFollowing;
    });
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('turns')) this.keeper?.follow();
    if (changed.has('tuning') && !this.tuning) this.tuned.open();
  }

  private get composer(): VivaceComposer | null {
    return this.renderRoot?.querySelector('vivace-composer') ?? null;
  }

  private async ask(question: string): Promise<void> {
    const { engine } = this;
    if (!engine || this.abort) return;
    const abort = new AbortController();
    this.abort = abort;
    const turn = newTurn(question, this.turns.at(-1)?.id ?? null);
    turn.waitsFor = this.tuning ? 'attention is being tuned.' : null;
    this.turns = [...this.turns, turn];
    this.keeper?.jumpToEnd();
    this.announcement = turn.waitsFor ? 'The answer waits until attention is tuned.' : 'The answer begins.';
    try {
      if (turn.waitsFor) await this.tuned.pass(abort.signal);
      turn.waitsFor = null;
      this.elementOf(turn)?.requestUpdate();
      this.dispatchEvent(new CustomEvent('vivace-run'));
      const options = { ...toGenerateOptions(this.sampling), signal: abort.signal };
      const events = engine.info.hasChatTemplate
        ? engine.chat(toMessages(this.turns, this.system), options)
        : engine.complete(question, options);
      for await (const event of events) this.onEvent(turn, event);
      if (abort.signal.aborted) turn.finishReason ??= 'abort';
      this.finish(turn, 'done');
    } catch (error) {
      if (!isAbort(error)) turn.advice = adviseRun(error);
      else turn.finishReason = 'abort';
      this.finish(turn, turn.advice ? 'error' : 'done');
    }
  }

  private onEvent(turn: Turn, event: EngineEvent): void {
    this.dispatchEvent(new CustomEvent<EngineEvent>('vivace-event', { detail: event }));
    if (takeEvent(turn, event)) this.elementOf(turn)?.refresh();
  }

  private finish(turn: Turn, state: 'done' | 'error'): void {
    turn.state = state;
    this.abort = null;
    this.dispatchEvent(new CustomEvent('vivace-end'));
    this.turns = [...this.turns];
    this.elementOf(turn)?.refresh();
    const words = turn.answer.split(/\s+/).filter(Boolean).length;
    this.announcement = state === 'error' ? 'The answer failed.' : `The answer is complete, ${words} words.`;
  }

  private elementOf(turn: Turn): VivaceTurn | null {
    return this.renderRoot.querySelector<VivaceTurn>(`vivace-turn[data-id="${turn.id}"]`);
  }

  private onExample(example: string): void {
    if (this.engine && !this.isStreaming) this.ask(example);
    else this.composer?.edit(example);
  }

  private onCancelTuning = () => {
    this.dispatchEvent(new CustomEvent('vivace-cancel-tuning'));
  };

  private onSettings = (event: CustomEvent<SamplingSettings>) => {
    this.sampling = event.detail;
  };

  private onOffer(offer: Offer): void {
    const turn = this.turns.at(-1);
    if (!turn || this.isStreaming) return;
    switch (offer) {
      case 'new':
        this.newConversation();
        break;
      case 'retry':
      case 'edit':
        this.turns = this.turns.slice(0, -1);
        if (offer === 'retry' && this.engine) this.ask(turn.question);
        else this.composer?.edit(turn.question);
        break;
      case 'reload':
      case 'auto-attention':
      case 'cpu': {
        const detail = settingsAfter(offer, this.loadSettings);
        this.dispatchEvent(new CustomEvent<LoadSettings>('vivace-reload', { detail, bubbles: true, composed: true }));
        break;
      }
      default:
        offer satisfies never;
    }
  }
}

if (!customElements.get('vivace-chat')) customElements.define('vivace-chat', VivaceChat);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-chat': VivaceChat;
  }
}
