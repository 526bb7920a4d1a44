// <vivace-chat model="...">: a chat that loads its own model, for pages built from elements. Attributes: model, hub,
// sha256, worker, the load settings by name (docs/api.md), system, welcome, heading, placeholder,
// settings (off, sampling, all), figures (on, off), examples ("a | b"), theme (auto, light, dark), lang (of all texts
// on the page), thinking (on, off), autoload, share, server, server-model, server-rule. The model loads at the first
// use of the chat, or at once with `autoload`. A chat without the `model` attribute is left alone.
// Until then the element gains no child and no attribute, so that React finds the markup that its server rendered.

import { css, type ReactiveController } from 'lit';
import type { ChatEngine, EngineEvent, Warning } from '../../engine/engine';
import { whenRemoved } from '../../shared/removal';
import type { VivaceChat } from '../../ui/chat/chat';
import { printChat } from '../../ui/chat/print_chat';
import type { Offer } from '../../ui/shared/advice';
import '../../ui/model/loader';
import '../../ui/model/notices';
import type { LoadSettings } from '../../ui/settings/settings_fields';
import { isAlone, readEmbedServer, type ServedSlot } from '../server/server_part';
import { type EmbedListener, EmbedSession, waitingNotice } from '../session/embed_session';
import { sharedPool } from '../session/engine_pool';
import {
  ATTRIBUTES,
  type EmbedModel,
  readAddress,
  readLanguage,
  readLoad,
  readModel,
  splitExamples,
  tellsStories,
} from '../shared/attributes';
import { findMisspelled } from '../shared/misspelled';
import { protect, shelter, showTheme } from '../shared/protect';
import { warningsFor } from '../shared/warnings_for';

/** Shows the texts of the language that a chat asks for; if it asks for none, those of others, or of the browser's. */
type ShowLanguage = (by: object, asked: string | null) => Promise<void>;

/** A chat is as high on paper as its conversation, whatever its size on the page. */
const onPaper = css`@media print {
  :host { display: block !important; contain: none; block-size: auto !important; max-block-size: none !important; }
}`;

class ChatWithModel implements ReactiveController {
  private session: EmbedSession | null = null;
  /** The model of the session, with its settings. */
  private held: EmbedModel | null = null;
  private readonly loader = document.createElement('vivace-loader');
  private readonly notices = document.createElement('vivace-notices');
  private readonly waiting = document.createElement('vivace-notices');
  /** The hosts of both notices and of the loader in the chat's slots. */
  private readonly notes = shelter('notice', this.waiting, this.notices);
  private readonly progress = shelter('loading', this.loader);
  private readonly changes = new MutationObserver(() => this.read());
  private readonly serverPlaces: HTMLElement[] = [];
  /** The attribute as it was read last. */
  private examples: string | null = null;
  private connected = new AbortController();

  constructor(
    private readonly chat: VivaceChat,
    private readonly showLanguage: ShowLanguage,
  ) {
    chat.addController(this);
  }

  hostConnected(): void {
    const { chat, loader } = this;
    const { signal } = this.connected;
    this.changes.observe(chat, { attributeFilter: [...ATTRIBUTES, 'autoload'] });
    // A load moves what is in the chat. A press that moves its own button away would be no click.
    chat.addEventListener('focusin', () => !chat.matches(':active') && this.session?.start(), { signal });
    chat.addEventListener('click', () => this.session?.start(), { signal });
    const hear = <T>(target: EventTarget, name: string, listener: (detail: T) => void) =>
      target.addEventListener(name, (event) => this.session && listener((event as CustomEvent<T>).detail), { signal });
    hear(loader, 'vivace-cancel-load', () => this.session?.cancel());
    hear(loader, 'vivace-load-offer', (offer: Offer) => this.session?.take(offer));
    hear(chat, 'vivace-reload', (settings: LoadSettings) => this.session?.reload(settings));
    hear(chat, 'vivace-event', (event: EngineEvent) => {
      if (event.type === 'warning') this.warn([event]);
    });
    hear(chat, 'vivace-health', () => {
      if (chat.engine?.health.state === 'well') this.warn(chat.engine.info.warnings);
    });
    printChat(chat, chat, [chat.shadowRoot!, onPaper], signal);
    this.read();
    void chat.updateComplete.then(() => this.missAttributes());
  }

  hostDisconnected(): void {
    this.connected.abort();
    this.connected = new AbortController();
    this.changes.disconnect();
    whenRemoved(this.chat, () => {
      this.letGo();
      void this.showLanguage(this, null);
    });
  }

  /** Frameworks set the property `examples` to the text of the attribute. */
  hostUpdate(): void {
    const { chat } = this;
    if (typeof chat.examples === 'string') chat.examples = splitExamples(chat.examples);
  }

  /**
   * Warns of misspelled attributes, and of a chat of the page that nothing can answer. That of the script tag's window
   * has its engine from there.
   */
  private missAttributes(): void {
    const { chat } = this;
    const complaints: string[] = [];
    const known = [...ATTRIBUTES, 'autoload', ...(chat.constructor as typeof VivaceChat).observedAttributes];
    findMisspelled(chat.getAttributeNames(), known, '', complaints);
    const isAnswered = this.held || chat.engine || chat.hasAttribute('model') || chat.getRootNode() !== document;
    if (!isAnswered) complaints.push('answers nothing: it has no attribute model and none named server.');
    this.complain(complaints);
  }

  /** Applies the attributes. */
  private read(): void {
    const { chat } = this;
    const complaints: string[] = [];
    const asked = this.askedFor(complaints);
    void this.showLanguage(this, readLanguage(chat.getAttribute('lang'), complaints));
    if (JSON.stringify(asked) !== JSON.stringify(this.held)) {
      this.letGo();
      if (asked) this.hold(asked);
    }
    this.complain(complaints);
    if (!asked) return;
    chat.tellsStories = tellsStories(asked);
    showTheme(chat, chat.getAttribute('theme') ?? 'auto');
    const examples = chat.getAttribute('examples');
    if (examples !== this.examples) chat.examples = examples === null ? null : splitExamples(examples);
    this.examples = examples;
    if (chat.hasAttribute('autoload')) this.session?.start();
  }

  private complain(complaints: readonly string[]): void {
    for (const complaint of complaints) console.warn(`Vivace: <vivace-chat> ${complaint}`);
  }

  /** The model named by the attributes, or null if they name none. */
  private askedFor(complaints: string[]): EmbedModel | null {
    const { chat } = this;
    const base = document.baseURI;
    const names = { model: chat.getAttribute('model') ?? undefined, hub: chat.getAttribute('hub') ?? '' };
    const model = readModel(names, base, complaints);
    const server = readEmbedServer((name) => chat.getAttribute(name), '', false, complaints);
    if (model === undefined && !(server && isAlone(server))) return null;
    return {
      server,
      model: model ?? '', // a server alone loads none
      sha256: chat.getAttribute('sha256') ?? undefined,
      load: readLoad((name) => chat.getAttribute(name), '', complaints),
      worker: readAddress('worker', chat.getAttribute('worker'), base, complaints),
      share: chat.hasAttribute('share') && chat.getAttribute('share') !== 'false' ? true : undefined,
    };
  }

  private hold(asked: EmbedModel): void {
    const { chat, loader, waiting } = this;
    protect(chat, 'flex');
    const listener: EmbedListener = {
      onState: (state) => {
        loader.state = state;
        chat.append(this.progress);
      },
      onEngine: (engine, stops) => this.show(engine, stops),
      place: (slot, part) => chat.append(this.serverPlace(slot, part)),
      onWaiting: (isWaiting) => {
        if (!isWaiting) return waiting.clear();
        chat.append(this.notes);
        waiting.show([waitingNotice()]);
      },
    };
    this.held = asked;
    this.session = new EmbedSession(asked, sharedPool(), listener);
    this.session.key = () => chat.serverKey();
  }

  /** The host of a part of the server, out of reach of the page's styles. It goes with the model. */
  private serverPlace(slot: ServedSlot, part: HTMLElement): HTMLElement {
    const host = shelter(slot, part);
    this.serverPlaces.push(host);
    return host;
  }

  private show(engine: ChatEngine | null, stops: boolean): void {
    const { chat } = this;
    if (stops) chat.stop();
    chat.engine = engine;
    if (this.session) chat.loadSettings = this.session.settings;
    if (engine) this.warn(engine.info.warnings);
  }

  private warn(warnings: readonly Warning[]): void {
    const shown = warningsFor(this.chat.settings, warnings);
    if (shown.length > 0) this.chat.append(this.notes);
    this.notices.show(shown);
  }

  private letGo(): void {
    const { session } = this;
    this.session = null;
    this.held = null;
    this.progress.remove();
    this.notes.remove();
    for (const host of this.serverPlaces.splice(0)) host.remove();
    if (session) void session.close();
  }
}

/** Makes every present and future chat of the page follow its attributes. */
export function giveModels(chats: typeof VivaceChat, showLanguage: ShowLanguage): void {
  if (customElements.get('vivace-chat') !== chats) return; // an earlier copy of the script does this already
  chats.addInitializer((chat) => new ChatWithModel(chat as VivaceChat, showLanguage));
  for (const chat of document.querySelectorAll('vivace-chat')) new ChatWithModel(chat, showLanguage);
}
