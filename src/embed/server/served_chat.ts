// The part that asks servers for a chat on another page: consent within the chat, the connection, the line that says
// where text goes, and the button that takes the consent back.

import { type ChatEngine, engineHere } from '../../engine/engine';
import { InvalidRequestError } from '../../errors';
import '../../ui/server/consent';
import { nextStep } from '../../ui/server/server_advice';
import { consentOf, readServer, type ServerChoice, without } from '../../ui/server/server_choice';
import '../../ui/server/server_line';
import { ServerSession, type ServerState } from '../../ui/server/server_session';
import { allow, disallow, isAllowed } from '../../ui/server/server_store';
import { useTongue } from '../../ui/server/tongue';
import { isAlone, type Served, type ServedOptions, type ServerPart } from './server_part';

/** What a visitor of this page has allowed, where this browser keeps no consent. */
let allowedHere: readonly string[] = [];

const REFUSED = 'Nothing is sent to the server without consent. The visitor can allow it in the chat.';

class ServedChat implements Served {
  readonly isAlone: boolean;
  private readonly choice: ServerChoice;
  private readonly session: ServerSession;
  private readonly consent = document.createElement('vivace-consent');
  private readonly line = document.createElement('vivace-server-line');
  private readonly settings = document.createElement('vivace-server-line');
  /** The engine that the chat asks. */
  private engine: ChatEngine | null = null;
  private hasKey = false;
  private stopHealth = () => {};

  constructor(private readonly options: ServedOptions) {
    const { asked, local, language, onLanguage } = options;
    const choice = readServer(asked);
    if (!choice) throw new InvalidRequestError('The server has no address.');
    useTongue({ language, onLanguage });
    this.choice = choice;
    this.isAlone = isAlone(asked);
    this.consent.inline = true;
    this.consent.addEventListener('vivace-consent-again', () => void this.connect());
    this.settings.inSettings = true;
    this.settings.addEventListener('vivace-withdraw', () => this.withdraw());
    this.session = new ServerSession(
      {
        onEngine: (engine, stops) => {
          this.stopHealth();
          this.stopHealth = engine?.onHealth(() => this.tell(this.session.state)) ?? (() => {});
          this.engine = engine;
          options.onEngine(engine, stops);
          this.tell(this.session.state);
        },
        onServer: (state) => this.onServer(state),
        consents: () => this.consents(),
      },
      local,
    );
    options.place('notice', this.consent);
    options.place('line', this.line);
    options.place('settings', this.settings);
  }

  onLocal(engine: Parameters<Served['onLocal']>[0]): void {
    this.session.onLocal(engine);
  }

  onLoad(kind: Parameters<Served['onLoad']>[0]): void {
    this.session.onLoad(kind);
  }

  connect(): Promise<void> {
    return this.session.connect(this.choice, async () => {
      const key = await this.options.key();
      this.hasKey = key !== '';
      return key;
    });
  }

  close(): void {
    this.stopHealth();
    this.session.disconnect();
    for (const part of [this.consent, this.line, this.settings]) part.remove();
  }

  private async consents(): Promise<boolean> {
    const { choice } = this;
    const { remembers } = this.options.asked;
    if (isAllowed(choice, allowedHere) || (remembers && isAllowed(choice))) return true;
    const mayAsk = await this.consent.ask(choice);
    if (mayAsk) allowedHere = [...allowedHere, consentOf(choice)];
    if (mayAsk && remembers) allow(choice);
    return mayAsk;
  }

  private withdraw(): void {
    allowedHere = without(allowedHere, this.choice);
    if (this.options.asked.remembers) disallow(this.choice);
    this.session.disconnect();
    if (this.isAlone) void this.connect(); // asks anew
  }

  private onServer(state: ServerState): void {
    if (state.kind === 'failed')
      this.options.onFailure(state.error, () => nextStep(state.error, state.choice, location.href, this.hasKey));
    if (state.kind === 'ready') this.consent.clear();
    this.options.onRefusal(state.kind === 'refused' ? new InvalidRequestError(REFUSED) : null);
    this.tell(state);
  }

  private tell(state: ServerState): void {
    const choice = state.kind === 'ready' ? state.choice : null;
    const isHere = engineHere(this.engine) !== null; // the model of the page may have come meanwhile
    for (const part of [this.line, this.settings]) Object.assign(part, { choice, isHere });
  }
}

export const part: ServerPart = { serve: (options) => new ServedChat(options) };
