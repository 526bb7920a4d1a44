// The chat button and its window on another page, in a shadow root out of reach of the page's styles. Nothing is
// downloaded and no worker runs before the window opens for the first time or the page asks for the model.

import { html, nothing, render } from 'lit';
import type {
  ChatEngine,
  ChatMessage,
  Engine,
  EngineChatOptions,
  EngineEvent,
  EngineLoadOptions,
  VivaceError,
  Warning,
} from '../../engine/engine';
import type { VivaceChat } from '../../ui/chat/chat';
import { newConversation } from '../../ui/conversation/conversation_tree';
import type { Offer } from '../../ui/shared/advice';
import { language, onLanguage } from '../../words/language';
import { launcherLabel } from '../../words/launcher';
import { words } from '../../words/words';
import { chosenLanguage, showLanguage } from '../fetch/translations';
import '../../ui/chat/chat';
import { connectPanel, type Panel } from '../../ui/chat/connect_panel';
import { icons } from '../../ui/shared/icons';
import '../../ui/model/loader';
import type { LoadState } from '../../ui/model/loader';
import '../../ui/model/notices';
import type { LoadSettings } from '../../ui/settings/settings_fields';
import { sharedStyles } from '../../ui/shared/shared_styles';
import { loadPart } from '../fetch/load_part';
import { addPanelScript } from '../fetch/panel_script';
import type { Kept, RememberPart } from '../remember/kept';
import type { KeySource, ServedSlot } from '../server/server_part';
import { type EmbedListener, EmbedSession, waitingNotice } from '../session/embed_session';
import { sharedPool } from '../session/engine_pool';
import { leavable } from '../session/leavable';
import { tellsStories } from '../shared/attributes';
import { adopt, hostTheme } from '../shared/protect';
import { failureFor, warningsFor } from '../shared/warnings_for';
import type { EmbedOptions } from './options';
import { createWidgetHost } from './widget_host';
import { widgetStyles } from './widget_styles';

/** The events of the page's handle, with the details that listeners receive. */
export interface WidgetEvents {
  open: undefined;
  close: undefined;
  /** The model is loaded. */
  ready: undefined;
  /** An engine event of an answer in this window, `interrupted` and `recovered` around a loss of the GPU among them. */
  event: EngineEvent;
  /** A question when it is asked, or an answer when it has ended. */
  message: { role: 'user' | 'assistant'; content: string };
  /** A load or an answer failed. `code`: of the VivaceError, or '' for errors of other kinds. */
  error: { code: string; message: string };
}

/** The longest that an answer waits for the kept conversation. */
const RESTORED_WITHIN_MS = 3_000;

export class Widget {
  private readonly host = createWidgetHost();
  private readonly root = this.host.attachShadow({ mode: 'open' });
  private readonly listeners = new Map<string, Set<(detail: never) => void>>();
  private readonly session: EmbedSession;
  private engine: ChatEngine | null = null;
  /** The parts of the server, which wait for the window. */
  private readonly serverParts: HTMLElement[] = [];
  private state: LoadState = { kind: 'loading', progress: null };
  private isOpen = false;
  private wasOpened = false;
  private showsPanel = false;
  /** The reason why there is no panel, or null. */
  private panelFailure: string | null = null;
  /** The conversation that is being kept, once the window was opened. */
  private keeping: Promise<Kept | null> | null = null;
  /** True while the kept conversation is not here yet: a question would come before it. */
  private isRestoring = false;
  private readonly stopHearing = onLanguage(() => this.onLanguage());

  constructor(private readonly options: EmbedOptions) {
    const listener: EmbedListener = {
      onState: (state) => this.onState(state),
      onEngine: (engine, stops) => this.onEngine(engine, stops),
      onWaiting: (isWaiting) => this.onWaiting(isWaiting),
      place: (slot, part) => this.place(slot, part),
    };
    this.session = new EmbedSession(options, sharedPool(), listener);
    adopt(this.root, [hostTheme, sharedStyles, widgetStyles]);
    const { dataset } = this.host;
    dataset.theme = options.theme;
    if (options.position && options.position !== 'none') dataset.position = options.position;
    dataset.testid = 'vivace-embed';
    this.host.lang = language(); // of our texts on any page
    this.host.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.isOpen && !event.defaultPrevented && !this.chat?.isStreaming) this.close();
    });
    this.host.addEventListener('vivace-removed', () => this.release());
    this.host.addEventListener('vivace-connected', () => {
      if (this.isOpen) this.session.start();
    });
    document.body.append(this.host);
    this.render();
    if (options.open) this.open(false);
  }

  /** Opens the window, and loads the model the first time. */
  open(takesFocus = true): void {
    if (this.isOpen || !this.host.isConnected) return;
    const isFirst = !this.wasOpened;
    this.isOpen = this.wasOpened = true;
    this.isRestoring ||= isFirst && this.options.remember !== null;
    void showLanguage();
    if (this.options.panel) {
      addPanelScript((message) => {
        this.panelFailure = message;
        this.warn([{ code: 'panel', message }]);
        this.render();
      });
    }
    this.session.start();
    this.render();
    const { chat } = this;
    const panel = this.root.querySelector<Panel>('vivace-metrics');
    if (isFirst && chat && panel) connectPanel(chat, panel);
    if (isFirst && chat) this.remember(chat);
    chat?.append(...this.serverParts.splice(0));
    if (takesFocus) this.focus();
    this.emit('open', undefined);
  }

  close(): void {
    if (!this.isOpen) return;
    const hadFocus = this.root.activeElement !== null;
    this.isOpen = false;
    this.render();
    if (hadFocus) this.root.querySelector<HTMLElement>('.launcher')?.focus();
    this.emit('close', undefined);
  }

  /** Deletes the conversation, shown and kept, for good. */
  async forget(): Promise<void> {
    const { chat, options } = this;
    const kept = await this.keeping;
    if (kept) return kept.forget();
    if (chat) chat.conversation = newConversation(options.system);
    if (options.remember) await (await rememberPart()).forget(options.remember);
  }

  /** Shows the kept conversation, and keeps what is shown from now on. */
  private remember(chat: VivaceChat): void {
    const { remember, settings } = this.options;
    const place = this.root.querySelector<HTMLElement>('.kept');
    if (!remember || !place) return;
    const options = { name: remember, place, keepsSystem: settings === 'all', language, onLanguage };
    const end = () => {
      this.isRestoring = false;
      this.render();
    };
    this.keeping = rememberPart()
      .then((part) => part.keep(chat, options))
      .catch((error: Error) => {
        console.warn(`Vivace: the conversation is not kept. ${error.message}`);
        return null;
      })
      .finally(end);
    setTimeout(end, RESTORED_WITHIN_MS);
  }

  /** Removes the widget from the page and releases the model. */
  async destroy(): Promise<void> {
    this.chat?.stop();
    this.host.remove();
    setTimeout(() => this.keeping?.then((kept) => kept?.close())); // keeps the end of an answer, which comes before
    this.listeners.clear();
    this.stopHearing();
    await this.session.close();
  }

  /** Releases the model, after the page has removed the widget, until the widget's next use. */
  private release(): void {
    this.state = { kind: 'loading', progress: null };
    void this.session.release();
    this.render();
  }

  /** Loads the model without opening the window. @throws the errors of Engine.load */
  async load(model?: string, options?: EngineLoadOptions | null): Promise<void> {
    await this.session.load(model, options);
  }

  /** Answers outside the window, with the same model. */
  ask(asked: readonly ChatMessage[] | string, options?: EngineChatOptions | null) {
    return this.session.chat(asked, this.options.system, options);
  }

  /** Calls `listener` on every later event of this name. The returned function removes the listener. */
  on<K extends keyof WidgetEvents>(name: K, listener: (detail: WidgetEvents[K]) => void): () => void {
    const all = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, all.add(listener));
    return () => all.delete(listener);
  }

  /** @param source gives the key of the site's server, after the visitor's consent */
  set key(source: KeySource) {
    this.session.key = source;
  }

  private place(slot: ServedSlot, part: HTMLElement): void {
    part.slot = slot;
    if (this.chat) this.chat.append(part);
    else this.serverParts.push(part);
  }

  private emit<K extends keyof WidgetEvents>(name: K, detail: WidgetEvents[K]): void {
    for (const listener of this.listeners.get(name) ?? []) {
      try {
        (listener as (detail: WidgetEvents[K]) => void)(detail);
      } catch (error) {
        reportError(error); // an error of the page's listener must not end an answer
      }
    }
  }

  private fail(error: unknown): void {
    const { code, message } = error as Partial<VivaceError>;
    this.emit('error', { code: typeof code === 'string' ? code : '', message: message ?? String(error) });
  }

  private focus(): void {
    const { chat } = this;
    // On touch screens a focused text field would open the keyboard over the page.
    if (!matchMedia('(hover: hover)').matches) this.root.querySelector<HTMLElement>('.window')?.focus();
    else chat?.updateComplete.then(() => chat.focus());
  }

  private onLanguage(): void {
    this.host.lang = language();
    this.render();
  }

  private onState(state: LoadState): void {
    this.state = failureFor(this.options.settings, state);
    if (state.kind === 'failed') this.fail(this.session.failure);
    this.render();
  }

  private onEngine(engine: ChatEngine | null, stops: boolean): void {
    if (stops) this.chat?.stop();
    this.engine = engine && this.overheard(engine);
    this.render();
    if (!engine) return;
    this.warn(engine.info.warnings);
    this.emit('ready', undefined);
  }

  private onWaiting(isWaiting: boolean): void {
    const waiting = this.root.querySelector<HTMLElementTagNameMap['vivace-notices']>('.waiting');
    if (isWaiting) waiting?.show([waitingNotice()]);
    else waiting?.clear();
  }

  /** The engine of this window's chat, with its questions and answers reported to the page. */
  private overheard(engine: ChatEngine): ChatEngine {
    const chat: Pick<Engine, 'chat' | 'complete'> = {
      chat: (messages, options) =>
        leavable(({ hold }) => this.tell(messages.at(-1), hold(engine.chat(messages, options)))),
      complete: (prompt, options) =>
        leavable(({ hold }) => this.tell({ role: 'user', content: prompt }, hold(engine.complete(prompt, options)))),
    };
    return new Proxy(engine, {
      get(target, name) {
        if (name === 'chat' || name === 'complete') return chat[name];
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  private async *tell(
    last: { role: string; content?: unknown } | undefined,
    events: AsyncGenerator<EngineEvent, void, undefined>,
  ) {
    const goesOn = last?.role === 'assistant';
    if (!goesOn) this.emit('message', { role: 'user', content: String(last?.content) });
    let content = goesOn ? String(last.content ?? '') : '';
    try {
      for await (const event of events) {
        if (event.type === 'token' || event.type === 'done') content += event.text;
        this.emit('event', event);
        yield event;
      }
    } catch (error) {
      this.fail(error);
      throw error;
    } finally {
      if (content) this.emit('message', { role: 'assistant', content });
    }
  }

  private warn(warnings: readonly Warning[]): void {
    this.chat?.querySelector('vivace-notices')?.show(warningsFor(this.options.settings, warnings));
  }

  private get chat(): VivaceChat | null {
    return this.root.querySelector('vivace-chat');
  }

  private render(): void {
    this.host.toggleAttribute('data-open', this.isOpen);
    const lang = chosenLanguage();
    const label = launcherLabel(lang, this.options.title, this.isOpen);
    // An opened window stays in the page, so that its conversation is kept.
    render(
      html`${this.wasOpened ? this.renderWindow() : nothing}
        ${
          this.options.position === 'none'
            ? nothing
            : html`<button class="launcher" data-testid="launcher" lang=${lang} aria-expanded=${this.isOpen} aria-label=${label} title=${label}
                @click=${() => (this.isOpen ? this.close() : this.open())}>${this.isOpen ? icons.close : this.renderIcon()}</button>`
        }`,
      this.root,
    );
  }

  private renderWindow() {
    const { options } = this;
    const text = words().embed;
    return html`<div class=${options.position === 'none' ? 'window alone' : 'window'} role="dialog" aria-label=${options.title}
      tabindex="-1" data-testid="window" ?hidden=${!this.isOpen}>
      <header>
        <h2>${options.title}</h2>
        ${options.panel ? this.renderPanelButton() : nothing}
        <button class="icon" data-testid="close" aria-label=${text.close} title=${text.close} @click=${() => this.close()}>${icons.close}</button>
      </header>
      <vivace-notices class="waiting" data-testid="waiting" @vivace-dismissed=${() => this.focus()}></vivace-notices>
      <vivace-chat ?hidden=${this.showsPanel} .engine=${this.isRestoring ? null : this.engine} .loadSettings=${this.session.settings}
        .heading=${options.title} .system=${options.system} .welcome=${options.welcome} .placeholder=${options.placeholder}
        .modelName=${options.settings === 'all' ? '' : options.title} .settings=${options.settings} .figures=${options.figures ? 'on' : 'off'} .examples=${options.examples} .tellsStories=${tellsStories(options)} .thinking=${options.thinking}
        @vivace-open-run=${this.openPanel} @vivace-event=${this.onEvent} @vivace-health=${this.onHealth} @vivace-reload=${(event: CustomEvent<LoadSettings>) => this.session.reload(event.detail)}>
        <vivace-notices slot="notice"></vivace-notices>
        <vivace-loader slot="loading" .state=${this.state} @vivace-cancel-load=${() => this.session.cancel()}
          @vivace-load-offer=${(event: CustomEvent<Offer>) => this.session.take(event.detail)}></vivace-loader>
      </vivace-chat>
      ${options.panel ? this.renderPanel() : nothing}
      ${options.remember ? html`<p class="kept" data-testid="kept" hidden></p>` : nothing}
      ${options.footer ? html`<p class="footer" data-testid="footer">${options.footer}</p>` : nothing}
    </div>`;
  }

  private renderIcon() {
    const { icon } = this.options;
    return icon ? html`<img class="picture" src=${icon} alt="" />` : icons.chat;
  }

  private renderPanel() {
    return html`<vivace-metrics data-testid="metrics" ?hidden=${!this.showsPanel} .theme=${this.options.theme}>${this.panelFailure ?? words().embed.panelComes}</vivace-metrics>`;
  }

  private renderPanelButton() {
    const label = words().embed.panel;
    return html`<button class="icon" data-testid="panel-button" aria-label=${label} title=${label} aria-pressed=${this.showsPanel} @click=${() => {
      this.showsPanel = !this.showsPanel;
      this.render();
    }}>${icons.chart}</button>`;
  }

  private openPanel = () => {
    this.showsPanel = true;
    this.render();
  };

  private onHealth = () => {
    if (this.engine?.health.state === 'well') this.warn(this.engine.info.warnings);
  };

  private onEvent = (event: CustomEvent<EngineEvent>) => {
    if (event.detail.type === 'warning') this.warn([event.detail]);
  };
}

function rememberPart(): Promise<RememberPart> {
  return loadPart<RememberPart>('embed_remember.js');
}
