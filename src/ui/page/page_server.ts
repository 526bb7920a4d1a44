// The page with a server: asks for consent, connects, keeps the server in the page's address, and says everywhere where
// text goes. Loaded when a server is asked for. The key is in no address, no document and no storage, unless the person
// wants it kept in this browser.

import { type ChatEngine, type Engine, engineHere, type Warning } from '../../engine/engine';
import { sayError } from '../../words/error_words';
import { pageWords } from '../../words/page_words';
import type { VivaceChat } from '../chat/chat';
import type { LoadState } from '../model/loader';
import type { ModelSession } from '../model/model_session';
import type { VivaceModels } from '../model/models';
import { illegalValue } from '../model/page_options';
import { codeOf } from '../shared/advice';
import '../server/consent';
import { nextStep } from '../server/server_advice';
import {
  hostOf,
  mayHoldSecret,
  parseRule,
  RULES,
  readServer,
  ruleText,
  type ServerChoice,
} from '../server/server_choice';
import '../server/server_line';
import type { TypedServer, VivaceServer } from '../server/server_section';
import '../server/server_section';
import { ServerSession, type ServerState } from '../server/server_session';
import { allow, isAllowed, readLast, withdraw, writeLast } from '../server/server_store';
import { onTongue, say } from '../server/tongue';

interface ServedPage {
  readonly chat: VivaceChat;
  readonly models: VivaceModels;
  readonly session: ModelSession;
  readonly loadState: LoadState;
  /** Shows the state of the page's own model. */
  show(state: LoadState): void;
  /** Gives the chat its engine. @param stops whether an answer under way ends */
  use(engine: ChatEngine | null, stops: boolean): void;
  /** Opens the dialog of models. */
  showModels(): Promise<void>;
  say(warning: Warning): void;
  /** Reports another name of the page on its first screen and in its header. */
  rename(): void;
}

const NAMES = { server: 'server', model: 'server-model', rule: 'server-rule' } as const;

export class PageServer {
  private readonly session: ServerSession;
  private readonly section: VivaceServer = document.createElement('vivace-server');
  private readonly consent = document.createElement('vivace-consent');
  private readonly line = document.createElement('vivace-server-line');
  private readonly settings = document.createElement('vivace-server-line');
  /** The key, in memory alone unless the person wants this browser to keep it. */
  #key = '';
  #keepsKey = false;

  constructor(private readonly page: ServedPage) {
    const { chat, models, loadState } = page;
    this.session = new ServerSession(
      {
        onEngine: (engine, stops) => this.onEngine(engine, stops),
        onServer: (state) => this.onServer(state),
        consents: (choice) => this.consents(choice),
      },
      engineHere(chat.engine),
    );
    this.onState(loadState);
    this.section.slot = 'server';
    this.line.slot = 'line';
    this.settings.slot = 'settings';
    this.settings.inSettings = true;
    document.body.append(this.consent);
    models.append(this.section);
    const last = readLast();
    if (last) this.take(last.choice, last.key);
    this.section.addEventListener('vivace-connect', (event) =>
      this.connect((event as CustomEvent<TypedServer>).detail),
    );
    this.section.addEventListener('vivace-disconnect', () => this.disconnect());
    this.settings.addEventListener('vivace-withdraw', () => this.withdraw());
    chat.addEventListener('vivace-health', () => this.tell());
    onTongue(() => {
      this.tell();
      this.page.rename();
    });
  }

  onLocal(engine: Engine | null): void {
    this.session.onLocal(engine);
  }

  /** Puts the focus into the form: it takes the place of the button that had it. */
  async focus(): Promise<void> {
    await this.section.updateComplete;
    this.section.focus();
  }

  onState({ kind }: LoadState): void {
    this.session.onLoad(kind);
  }

  /** Follows the page's address. False if it names no server that can be asked. */
  async openAsked(search: string): Promise<boolean> {
    const query = new URLSearchParams(search);
    const value = (name: keyof typeof NAMES) => query.get(NAMES[name]);
    try {
      const choice = readServer({ server: value('server'), model: value('model'), rule: value('rule') });
      if (!choice) return false;
      const rule = value('rule');
      if (rule && !parseRule(rule)) this.page.say(illegalValue(NAMES.rule, rule, RULES));
      const last = readLast();
      this.take(choice, last?.choice.address === choice.address ? last.key : '');
      if (choice.rule !== 'remote') void this.page.session.load();
      await this.session.connect(choice, () => this.#key);
      const { kind } = this.session.state;
      if (kind === 'failed') {
        await this.page.showModels();
        await this.section.updateComplete;
        this.section.scrollIntoView(); // the dialog begins with models
      }
      return kind !== 'refused' || choice.rule !== 'remote';
    } catch {
      this.keepInAddress(null);
      const { holdsSecret, noAddress } = say();
      this.page.say({
        code: 'server-address',
        message: mayHoldSecret(value('server') ?? '') ? holdsSecret : noAddress,
      });
      return false;
    }
  }

  private connect({ choice, key, keepsKey }: TypedServer): void {
    this.#key = key;
    this.#keepsKey = keepsKey;
    writeLast(choice, keepsKey ? key : '');
    void this.session.connect(choice, () => this.#key);
  }

  private disconnect(): void {
    const { state } = this.session;
    this.session.disconnect();
    this.keepInAddress(null);
    const wasAlone = state.kind === 'ready' && state.choice.rule === 'remote';
    if (wasAlone && !this.page.session.running) void this.page.session.load();
  }

  private withdraw(): void {
    const { state } = this.session;
    if (state.kind === 'off') return;
    withdraw(state.choice);
    this.take(state.choice, '');
    this.disconnect();
  }

  /** @param key what this browser has kept of it, or '' */
  private take(choice: ServerChoice, key: string): void {
    this.#key = key;
    this.#keepsKey = key !== '';
    this.section.fill(choice, key, this.#keepsKey);
  }

  private async consents(choice: ServerChoice): Promise<boolean> {
    if (isAllowed(choice)) return true;
    const mayAsk = await this.consent.ask(choice);
    if (mayAsk) allow(choice);
    return mayAsk;
  }

  private onEngine(engine: ChatEngine | null, stops: boolean): void {
    this.page.use(engine, stops);
    this.tell();
  }

  private onServer(state: ServerState): void {
    const { section, page } = this;
    const wasReady = section.state.kind === 'ready';
    section.state = state;
    if (state.kind === 'failed') {
      const { choice, error } = state;
      const next = nextStep(error, choice, location.href, this.#key !== '');
      // What the server itself said. Of the two others the next step tells all.
      const isSaid = !['server-unreachable', 'server-key'].includes(codeOf(error));
      section.trouble = { what: say().failed(hostOf(choice)), next, detail: isSaid ? sayError(error).text : '' };
    }
    if (state.kind === 'ready') {
      section.fill({ ...state.choice, model: state.engine.info.model.name }, this.#key, this.#keepsKey);
      this.keepInAddress(state.choice);
      for (const warning of state.engine.info.warnings) page.say(warning);
      if (state.choice.rule === 'remote') {
        void page.session.close();
        page.show({ kind: 'ready' }); // nothing of the page's own loads any more
      }
    } else if (wasReady || state.kind === 'refused') this.keepInAddress(null);
    this.tell();
  }

  /** Says where text goes, instead of the promise that it goes nowhere. */
  private tell(): void {
    const { state } = this.session;
    const { chat } = this.page;
    const choice = state.kind === 'ready' ? state.choice : null;
    const isHere = engineHere(chat.engine) !== null;
    for (const element of [this.line, this.settings]) {
      Object.assign(element, { choice, isHere });
      if (choice && element.parentNode !== chat) chat.append(element);
      else if (!choice) element.remove();
    }
    // The chat says it under its field, in windows of every size.
    const foot = document.querySelector('.foot');
    if (foot) foot.textContent = choice ? '' : pageWords().frame.private;
    document.getElementById('next')?.toggleAttribute('hidden', choice?.rule === 'remote');
    const welcome = document.querySelector('vivace-welcome');
    if (welcome) welcome.lead = choice ? say().lead(hostOf(choice)) : '';
  }

  /** Never the key. */
  private keepInAddress(choice: ServerChoice | null): void {
    const query = new URLSearchParams(location.search);
    for (const name of Object.values(NAMES)) query.delete(name);
    if (choice) {
      query.set(NAMES.server, choice.address);
      if (choice.model) query.set(NAMES.model, choice.model);
      if (choice.rule !== 'remote') query.set(NAMES.rule, ruleText(choice.rule));
    }
    const text = query.toString().replace(/%2F/g, '/').replace(/%3A/g, ':').replace(/%40/g, '@');
    history.replaceState(null, '', location.pathname + (text && `?${text}`) + location.hash);
  }
}
