// What a tab tells its engine of the model, wherever that is: how it was loaded, its health, and how it was lost.

import type { EngineLoadProgress, Health, VivaceError } from '../engine/engine';
import type { EngineHost } from '../engine/page/host/host';
import type { EngineInfo, LoadProgress } from '../engine/protocol';
import { type ErrorParts, type LeadState, TAB_GONE } from './wire';

type Ready = Extract<LeadState, { kind: 'ready' }>;
type Recovering = Extract<LeadState, { kind: 'recovering' }>;

export class TabState {
  info!: EngineInfo;
  form: EngineHost['form'] = null;
  health: Health = { state: 'well' };
  lost: VivaceError | null = null;
  news = '';
  readonly whenLost: Promise<VivaceError>;
  readonly listeners: EngineHost['listeners'] = new Set();
  private resolveLost: (error: VivaceError) => void = () => {};

  constructor(protected readonly parts: ErrorParts) {
    this.whenLost = new Promise((resolve) => {
      this.resolveLost = resolve;
    });
  }

  protected tell(health: Health): void {
    this.health = health;
    for (const listener of this.listeners) listener(health);
  }

  /** The model answers. */
  protected tellReady(health: Health): void {
    if (this.health.state !== health.state || health.state === 'without-gpu') this.tell(health);
  }

  /** The model of this tab is there. */
  protected takeHost(host: EngineHost): void {
    this.info = host.info;
    this.form = host.form;
    this.news ||= host.news;
  }

  /** The model of another tab is there. Returns its health. */
  protected takeModel({ info, form, news, nextTryAt }: Ready): Health {
    Object.assign(this, { info, form });
    this.news ||= news;
    const cause = new this.parts.VivaceError('webgpu-unavailable', news);
    return nextTryAt === null ? { state: 'well' } : { state: 'without-gpu', cause, nextTryAt };
  }

  /** @param error of a lost GPU or worker. Without one, the tab with the model is gone. Returns the cause. */
  protected tellLoss(error?: VivaceError): VivaceError {
    const cause = error ?? new this.parts.VivaceError(TAB_GONE, 'The tab that ran the model is gone.');
    this.news = error ? '' : 'The tab that ran the model is gone. The model was loaded in another one.';
    if (this.health.state !== 'recovering') this.tell({ state: 'recovering', cause, loss: 1, progress: null });
    return cause;
  }

  /** Progress of the load after a loss. @param state what the tab with the model says of it */
  protected tellRecovery(progress: EngineLoadProgress, state?: Recovering): void {
    if (this.health.state !== 'recovering') return;
    const cause = state ? (this.parts.fromFailure(state.cause) as VivaceError) : this.health.cause;
    const loss = state ? state.loss : this.health.loss;
    this.tell({ state: 'recovering', cause, loss, progress: progress as LoadProgress });
  }

  /** The model is lost for good. */
  protected tellLost(cause: VivaceError): void {
    this.lost = cause;
    this.tell({ state: 'lost', cause });
    this.resolveLost(cause);
  }
}
