// One server beside the model of a page: asks for consent, connects, and gives the engine that a chat asks by the rule.
// Holds the key only while it connects. Touches no DOM.

import type { ChatEngine, Engine } from '../../engine/engine';
import { HybridEngine, RemoteEngine } from '../../remote/remote_engine';
import { isAbort } from '../shared/advice';
import type { ServerChoice } from './server_choice';

export type ServerState =
  | { kind: 'off' }
  /** Consent is asked for, or was not given. */
  | { kind: 'asking' | 'refused' | 'connecting'; choice: ServerChoice }
  | { kind: 'failed'; choice: ServerChoice; error: unknown }
  | { kind: 'ready'; choice: ServerChoice; engine: RemoteEngine };

export interface ServerHost {
  /**
   * Receives what the chat asks, or null while nothing can answer. An answer under way `stops`. One of the server goes
   * on while the page's own model comes and goes.
   */
  onEngine(engine: ChatEngine | null, stops: boolean): void;
  onServer(state: ServerState): void;
  /** Asks the person whether what is written may go there. */
  consents(choice: ServerChoice): Promise<boolean>;
}

/** The load of the page's model. */
interface Pending {
  readonly engine: Promise<Engine>;
  resolve(engine: Engine): void;
  reject(reason: unknown): void;
}

/** The source of the key, called after the consent. '' for no key. */
export type KeySource = () => string | Promise<string>;

export class ServerSession {
  state: ServerState = { kind: 'off' };
  private local: Engine | null;
  private pending: Pending | null = null;
  private connecting: AbortController | null = null;
  private hybrid: { engine: HybridEngine<Engine>; local: Engine | Pending | null } | null = null;
  private given: ChatEngine | null;

  /** @param local the page's own engine now */
  constructor(
    private readonly host: ServerHost,
    local: Engine | null,
    private readonly load: typeof RemoteEngine.load = (address, options) => RemoteEngine.load(address, options),
  ) {
    this.local = this.given = local;
  }

  /** The engine of the page's own model, or null while there is none. */
  onLocal(engine: Engine | null): void {
    const { pending, hybrid } = this;
    this.local = engine;
    if (engine && pending) {
      this.pending = null;
      pending.resolve(engine);
      if (hybrid?.local === pending) hybrid.local = engine; // it waited for this one
    }
    this.give();
  }

  /** The state of the page's own load. `ready` comes before its engine, or after a load that left the old one. */
  onLoad(kind: 'loading' | 'canceled' | 'failed' | 'ready'): void {
    const { pending, local } = this;
    if (kind === 'loading') this.pending ??= pendingLoad();
    else if (pending && (local || kind !== 'ready')) {
      this.pending = null;
      if (local) pending.resolve(local);
      else pending.reject(new DOMException('The model was not loaded.', 'AbortError'));
    }
    this.give();
  }

  /** Connects to a server in the place of the one before. Settles when that has ended, well or not. */
  async connect(choice: ServerChoice, key: KeySource): Promise<void> {
    this.disconnect();
    const abort = new AbortController();
    const { signal } = abort;
    this.connecting = abort;
    try {
      this.show({ kind: 'asking', choice });
      const mayAsk = await this.host.consents(choice);
      signal.throwIfAborted();
      if (!mayAsk) return this.show({ kind: 'refused', choice });
      this.show({ kind: 'connecting', choice });
      const apiKey = await key();
      signal.throwIfAborted();
      const model = choice.model ?? undefined;
      const engine = await this.load(choice.address, { apiKey, model, signal });
      signal.throwIfAborted();
      this.show({ kind: 'ready', choice, engine });
    } catch (error) {
      if (signal.aborted) return;
      this.show(isAbort(error) ? { kind: 'off' } : { kind: 'failed', choice, error });
    }
  }

  /** Ends the server's answers, and a connection under way. */
  disconnect(): void {
    this.connecting?.abort();
    this.connecting = null;
    if (this.state.kind === 'ready') void this.state.engine.unload();
    this.hybrid = null;
    this.show({ kind: 'off' });
  }

  private show(state: ServerState): void {
    if (state.kind === 'off' && this.state.kind === 'off') return;
    this.state = state;
    this.give(true);
    this.host.onServer(state);
  }

  private give(stops = this.state.kind !== 'ready'): void {
    const engine = this.choose();
    if (engine === this.given) return;
    this.given = engine;
    this.host.onEngine(engine, stops);
  }

  private choose(): ChatEngine | null {
    const { state, local, pending } = this;
    if (state.kind !== 'ready') return local;
    const { rule } = state.choice;
    if (rule === 'remote') return this.hybridOf(null);
    if (typeof rule === 'object' && pending) return null; // the model counts the tokens
    return this.hybridOf(local ?? pending);
  }

  private hybridOf(local: Engine | Pending | null): HybridEngine<Engine> {
    if (this.hybrid && this.hybrid.local === local) return this.hybrid.engine;
    const state = this.state as Extract<ServerState, { kind: 'ready' }>;
    const engine = new HybridEngine<Engine>({
      local: local && 'resolve' in local ? local.engine : local,
      remote: state.engine,
      rule: state.choice.rule,
      consent: () => true, // given before it connected
    });
    this.hybrid = { engine, local };
    return engine;
  }
}

function pendingLoad(): Pending {
  let resolve: Pending['resolve'] = () => {};
  let reject: Pending['reject'] = () => {};
  const engine = new Promise<Engine>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  engine.catch(() => {}); // whoever needs it hears of it
  return { engine, resolve, reject };
}
