// The time in which this tab leads: it loads the model, says how it goes, and answers the other tabs.

import type { EngineLoadProgress, VivaceError } from '../engine/engine';
import type { EngineHost, HostConnection } from '../engine/page/host/host';
import type { ArithmeticChoice, LoadProgress } from '../engine/protocol';
import { Desk } from './desk';
import type { TabPlace } from './place';
import type { ErrorParts, FromLeader, LeadState, ToLeader } from './wire';

export type OpenHost = (
  onProgress: (progress: EngineLoadProgress) => unknown,
  signal: AbortSignal,
  before: ArithmeticChoice | undefined,
) => Promise<EngineHost>;

interface Listener {
  onProgress(progress: EngineLoadProgress): unknown;
  /** A worker has the model. */
  onReady(connection: HostConnection): void;
  /** The worker is lost, and the model loads again. */
  onLoss(error: Error, isLoss: boolean): void;
  /** The model cannot be loaded, or not again. */
  onEnd(error: unknown): void;
}

export class Lead {
  host: EngineHost | null = null;
  /** Null while the model loads. */
  connection: HostConnection | null = null;
  private term: string;
  private desk: Desk | null = null;
  private progress: LoadProgress | null = null;
  private isOver = false;
  private readonly over = new AbortController();
  private readonly onHealth = () => this.say();

  constructor(
    private readonly place: TabPlace,
    private readonly parts: ErrorParts,
    private readonly post: (message: FromLeader) => void,
    private readonly listener: Listener,
  ) {
    this.term = place.id();
  }

  /** @param before the arithmetic of the answers that go on here */
  async load(open: OpenHost, before?: ArithmeticChoice): Promise<void> {
    this.say();
    const onProgress = (progress: EngineLoadProgress) => {
      if (this.isOver) return;
      this.progress = bare(progress);
      this.say();
      return this.listener.onProgress(progress);
    };
    try {
      const host = await open(onProgress, this.over.signal, before);
      if (this.isOver) return void host.unload();
      this.host = host;
      host.listeners.add(this.onHealth);
      void host.whenLost.then((error) => !this.isOver && this.listener.onEnd(error));
      this.connect(host);
    } catch (error) {
      if (!this.isOver) this.listener.onEnd(error);
    }
  }

  hear(message: ToLeader): void {
    if (message.type === 'hello') this.say();
    else if (message.term === this.term && this.desk) this.desk.hear(message);
    else this.say(); // the tab asks another term: of before a loss, or of another leader
  }

  /** Gives the lead up. The model's memory is free when the promise resolves. */
  async end(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    this.desk?.end();
    this.post({ type: 'state', term: this.term, state: { kind: 'gone' } });
    this.over.abort(new DOMException('Another tab leads.', 'AbortError'));
    this.host?.listeners.delete(this.onHealth);
    await this.host?.unload();
  }

  private connect(host: EngineHost): void {
    const begin = (connection: HostConnection) => {
      if (this.isOver) return;
      this.connection = connection;
      this.desk = new Desk(this.place, this.parts, this.term, host, connection, this.post);
      this.say();
      this.listener.onReady(connection);
      connection.onEnd((error) => this.lose(host, error, error === connection.lost));
    };
    host.whenReady({ begin, fail: () => {} }); // `whenLost` tells
  }

  private lose(host: EngineHost, error: Error, isLoss: boolean): void {
    if (this.isOver) return;
    this.connection = null;
    this.desk?.end();
    this.desk = null;
    this.term = this.place.id();
    this.say(isLoss ? (error as VivaceError) : undefined);
    this.listener.onLoss(error, isLoss);
    queueMicrotask(() => this.connect(host)); // the host is told of the loss after its requests
  }

  private say(cause?: VivaceError): void {
    if (!this.isOver) this.post({ type: 'state', term: this.term, state: this.state(cause) });
  }

  private state(cause?: VivaceError): LeadState {
    const { host, connection, parts } = this;
    if (!host) return { kind: 'loading', progress: this.progress };
    const { info, form, news, health } = host;
    if (connection) {
      return { kind: 'ready', info, form, news, nextTryAt: health.state === 'without-gpu' ? health.nextTryAt : null };
    }
    if (health.state === 'recovering') {
      const { loss, progress } = health;
      return { kind: 'recovering', cause: parts.toFailure(health.cause), loss, progress: progress && bare(progress) };
    }
    return cause
      ? { kind: 'recovering', cause: parts.toFailure(cause), loss: 1, progress: null }
      : { kind: 'loading', progress: null };
  }
}

/** The progress without its function, which does not cross. */
function bare({ goOnAlone: _, ...progress }: EngineLoadProgress): LoadProgress {
  return progress;
}
