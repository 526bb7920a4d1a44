// A model that several tabs share, seen from one of them. This tab leads or follows; its requests end as losses when
// that changes, and the engine over this host goes on with each from what was heard.

import type { EngineLoadProgress, Health, VivaceError } from '../engine/engine';
import type { EngineHost, HostConnection, Waiting } from '../engine/page/host/host';
import type { GenerateInput, TokenizedInput, TokenizeOptions } from '../engine/protocol';
import { Askers } from './askers';
import { readMessage } from './check_message';
import { Lead, type OpenHost } from './lead';
import { LeadQueue } from './lead_queue';
import { LeaderWatch } from './leader_watch';
import type { Channel, TabPlace } from './place';
import { RunningAnswers } from './running_answers';
import { Seat } from './seat';
import type { TabConnection } from './tab_connection';
import { TabState } from './tab_state';
import type { ErrorParts, FromLeader, TabMessage } from './wire';

type OnProgress = (progress: EngineLoadProgress) => unknown;

export class TabHost extends TabState implements EngineHost {
  readonly running = new RunningAnswers();
  private readonly id: string;
  private readonly channel: Channel;
  private readonly seat: Seat;
  private lead: Lead | null = null;
  private readonly queue: LeadQueue;
  private readonly watch: LeaderWatch;
  private readonly askers = new Askers();
  private endThings: (() => void)[] = [];
  /** The reason why nothing is answered any more. */
  private over: Error | null = null;
  private isAway = false;
  private onFirst: { resolve(): void; reject(error: unknown): void } | null = null;

  private constructor(
    private readonly place: TabPlace,
    private readonly openHost: OpenHost,
    parts: ErrorParts,
    private onProgress: OnProgress,
  ) {
    super(parts);
    this.id = place.id();
    this.channel = place.open((data) => this.hear(data));
    this.seat = new Seat(this.id, place.id, parts, (message) => this.channel.post(message));
    this.queue = new LeadQueue(
      place,
      () => this.onLead(),
      () => this.onTaken(),
    );
    this.watch = new LeaderWatch(
      place,
      () => this.askLeader(),
      () => this.queue.steal(),
    );
  }

  /** Resolves when the model answers, here or in another tab. @throws the error of the load; the reason of `signal` */
  static async open(
    place: TabPlace,
    openHost: OpenHost,
    parts: ErrorParts,
    onProgress: OnProgress = () => {},
    signal?: AbortSignal,
  ): Promise<TabHost> {
    signal?.throwIfAborted();
    const made = new TabHost(place, openHost, parts, onProgress);
    const abort = () => made.end(signal?.reason);
    signal?.addEventListener('abort', abort);
    try {
      const ready = new Promise<void>((resolve, reject) => {
        made.onFirst = { resolve, reject };
      });
      made.join().catch((error) => made.end(error));
      await ready;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
    made.onProgress = () => {};
    return made;
  }

  /** This tab has the model. */
  get leads(): boolean {
    return this.lead !== null;
  }

  whenReady(waiting: Waiting): () => void {
    const connection = this.over ? null : this.connect();
    if (this.over) waiting.fail(this.over);
    else if (connection) waiting.begin(connection);
    else {
      this.askers.wait(waiting);
      this.watch.begin();
    }
    return () => this.askers.waitNoMore(waiting);
  }

  async tokenize(input: GenerateInput, options: TokenizeOptions): Promise<TokenizedInput> {
    for (;;) {
      const given = await new Promise<HostConnection>((begin, fail) => void this.whenReady({ begin, fail }));
      const connection = given as TabConnection;
      const { lead } = this;
      try {
        if (!lead?.host) return await this.seat.tokenize({ input, options }, connection);
        this.askers.forget(connection);
        return await lead.host.tokenize(input, options);
      } catch (error) {
        if (this.over) throw this.over;
        if (error !== connection.lost && (lead === null || lead === this.lead)) throw error;
      }
    }
  }

  async unload(): Promise<void> {
    this.listeners.clear();
    await this.end(new this.parts.VivaceError('worker', 'The engine was unloaded. Load a model again.'));
  }

  private async join(): Promise<void> {
    const end = await this.place.live(this.id);
    if (this.over) return end();
    const onHide = () => {
      this.isAway = true;
      this.stepDown();
      this.queue.leave();
    };
    const onShow = () => {
      this.isAway = false;
      this.follow();
    };
    this.endThings.push(end, this.place.onAway(onHide, onShow));
    this.follow();
  }

  private follow(): void {
    this.queue.enter();
    this.seat.ping();
    this.watch.begin();
  }

  private onLead(): void {
    const isGone = this.over !== null || this.isAway; // a theft under way is not called off
    if (isGone) this.queue.leave();
    if (isGone || this.lead) return;
    this.loseAll();
    this.seat.leave();
    this.lead = new Lead(this.place, this.parts, (message) => this.channel.post(message), {
      onProgress: (progress) => {
        this.tellRecovery(progress);
        return this.onProgress(progress);
      },
      onReady: () => this.settle(),
      onLoss: (error, isLoss) => this.loseAll(isLoss ? (error as VivaceError) : undefined),
      onEnd: (error) => this.fail(error),
    });
    void this.lead.load(this.openHost, this.info?.arithmetic);
  }

  private onTaken(): void {
    if (this.over) return;
    this.stepDown();
    this.follow();
  }

  /** Another tab leads from now on. */
  private stepDown(): void {
    const { lead } = this;
    if (!lead) return;
    this.lead = null;
    this.running.also = null;
    lead.host?.listeners.delete(this.onLeadHealth);
    this.loseAll();
    void lead.end();
  }

  private settle(): void {
    const host = this.lead?.host;
    if (!host) return;
    this.takeHost(host);
    this.running.also = host.running;
    host.listeners.add(this.onLeadHealth);
    this.begin({ state: 'well' });
    if (host.health.state !== 'well') this.tell(host.health);
  }

  private readonly onLeadHealth = (health: Health) => {
    if (this.lead?.host && health.state !== 'lost') this.tell(health);
  };

  private hear(data: unknown): void {
    const message = readMessage(data);
    if (!message || this.over || this.isAway) return;
    if (isToLeader(message)) this.lead?.hear(message);
    else if (this.lead) return;
    else if (message.type === 'state') this.hearState(message);
    else if (message.to === this.id && message.term === this.seat.term) {
      this.watch.heard();
      this.seat.hear(message);
    }
  }

  private hearState({ term, state }: Extract<FromLeader, { type: 'state' }>): void {
    const { seat } = this;
    if (state.kind === 'gone') {
      if (term === seat.term) {
        this.loseAll();
        seat.leave();
        seat.ping();
      }
      return;
    }
    this.watch.heard();
    if (term !== seat.term) {
      this.loseAll(state.kind === 'recovering' ? (this.parts.fromFailure(state.cause) as VivaceError) : undefined);
      seat.leave();
      seat.term = term;
    }
    seat.isReady = state.kind === 'ready';
    if (state.kind === 'ready') this.begin(this.takeModel(state));
    else if (state.progress) {
      this.tellRecovery(state.progress, state.kind === 'recovering' ? state : undefined);
      this.onProgress(state.progress);
    }
  }

  /** A connection to the model, or null while none answers. */
  private connect(): TabConnection | null {
    const local = this.lead?.connection;
    if (this.lead ? !local : !this.seat.isReady) return null;
    this.watch.begin();
    return this.askers.connect(
      (connection) => (request, receiver) =>
        local ? local.send(request, receiver) : this.seat.send(request, receiver, connection),
    );
  }

  /** The model answers: waits end. */
  private begin(health: Health): void {
    this.tellReady(health);
    this.onFirst?.resolve();
    this.onFirst = null;
    this.askers.begin(() => this.connect());
  }

  /** Requests lose the model that they asked. They wait for the next. */
  private loseAll(error?: VivaceError): void {
    if (this.over || !this.info) return;
    const tellThem = this.askers.lose();
    tellThem(this.tellLoss(error));
    this.watch.begin();
  }

  /** The load of this tab failed, or its engine was lost for good. The next tab tries. */
  private fail(error: unknown): void {
    const cause = error instanceof Error ? error : new Error(String(error));
    void this.end(cause);
    if (this.info) this.tellLost(cause as VivaceError);
  }

  /** The memory of the model is free before another tab leads. */
  private async end(reason: Error): Promise<void> {
    if (this.over) return;
    this.over = reason;
    const freed = this.lead?.end();
    this.lead = null;
    this.askers.end(reason);
    this.onFirst?.reject(reason);
    this.watch.end();
    for (const end of this.endThings) end();
    this.channel.close();
    await freed;
    this.queue.leave();
  }

  /** Asks the leading tab for a sign of life. Returns false where nothing waits for it. */
  private askLeader(): boolean {
    if (this.lead || this.isAway) return false;
    const { onFirst, askers, seat, health } = this;
    const isNeeded = onFirst !== null || askers.isWaiting || seat.isWaiting || health.state === 'recovering';
    seat.ping(); // the last one frees what was not heard to be over
    return isNeeded;
  }
}

function isToLeader(message: TabMessage): message is Extract<TabMessage, { from: string }> {
  return 'from' in message;
}
