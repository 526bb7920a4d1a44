// The chat button and its window on somebody else's page, in a shadow root that their styles do not reach.
// Until the window is opened for the first time nothing is downloaded and no worker runs.

import { html, nothing, render, unsafeCSS } from 'lit';
import type { Engine, EngineEvent, Warning } from '../engine/engine';
import type { VivaceMetrics } from '../metrics/metrics_panel';
import '../metrics/metrics_panel';
import type { Offer } from '../ui/advice';
import type { VivaceChat } from '../ui/chat';
import '../ui/chat';
import type { Tuning } from '../ui/chat_parts';
import { icons } from '../ui/icons';
import '../ui/loader';
import type { LoadState } from '../ui/loader';
import { ModelSession } from '../ui/model_session';
import '../ui/notices';
import { type LoadSettings, STANDARD_LOAD } from '../ui/settings_fields';
import { sharedStyles } from '../ui/shared_styles';
import themeCss from '../ui/theme.css?inline';
import type { EmbedOptions } from './options';
import { widgetStyles } from './widget_styles';

/** What a page can listen to, and what its listener gets. */
export interface WidgetEvents {
  open: undefined;
  close: undefined;
  ready: undefined;
  event: EngineEvent;
  error: { message: string };
}

export class Widget {
  private readonly host = document.createElement('div');
  private readonly root = this.host.attachShadow({ mode: 'open' });
  private readonly listeners = new Map<string, Set<(detail: never) => void>>();
  private session: ModelSession | null = null;
  private engine: Engine | null = null;
  private tuning: Tuning | null = null;
  private state: LoadState = { kind: 'loading', progress: null };
  private isOpen = false;
  private showsMetrics = false;

  constructor(private readonly options: EmbedOptions) {
    const sheets = [unsafeCSS(themeCss), sharedStyles, widgetStyles].map((style) => style.styleSheet);
    this.root.adoptedStyleSheets = sheets.filter((sheet) => sheet !== undefined);
    this.host.dataset.theme = options.theme;
    this.host.dataset.position = options.position;
    this.host.dataset.testid = 'vivace-embed';
    this.host.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.isOpen && !this.chat?.isStreaming) this.close();
    });
    document.body.append(this.host);
    this.render();
  }

  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    if (!this.session) this.start();
    this.render();
    this.chat?.updateComplete.then(() => this.chat?.focus());
    this.emit('open', undefined);
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.render();
    this.root.querySelector<HTMLElement>('.launcher')?.focus();
    this.emit('close', undefined);
  }

  async destroy(): Promise<void> {
    this.chat?.stop();
    this.host.remove();
    this.listeners.clear();
    await this.session?.close();
  }

  /** Calls back on every such event from now on; what it returns ends that. */
  on<K extends keyof WidgetEvents>(name: K, listener: (detail: WidgetEvents[K]) => void): () => void {
    const all = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, all.add(listener));
    return () => all.delete(listener);
  }

  private emit<K extends keyof WidgetEvents>(name: K, detail: WidgetEvents[K]): void {
    for (const listener of this.listeners.get(name) ?? []) (listener as (detail: WidgetEvents[K]) => void)(detail);
  }

  private start(): void {
    this.session = new ModelSession(this.options.model, STANDARD_LOAD, undefined, {
      onState: (state) => {
        this.state = state;
        if (state.kind === 'failed') this.emit('error', { message: state.advice.what });
        this.render();
      },
      onEngine: (engine) => {
        this.chat?.stop();
        this.engine = engine;
        this.render();
        if (!engine) return;
        this.warn(engine.info.warnings);
        this.emit('ready', undefined);
      },
    });
    void this.session.load();
  }

  private warn(warnings: readonly Warning[]): void {
    this.root.querySelector('vivace-notices')?.show(warnings);
  }

  private get chat(): VivaceChat | null {
    return this.root.querySelector('vivace-chat');
  }

  private get panel(): VivaceMetrics | null {
    return this.root.querySelector('vivace-metrics');
  }

  private render(): void {
    this.host.toggleAttribute('data-open', this.isOpen);
    const label = this.isOpen ? `Close ${this.options.title}` : `Open ${this.options.title}`;
    // The window stays in the page once it was opened, so that the conversation does.
    const chatWindow = this.session ? this.renderWindow() : nothing;
    render(
      html`${chatWindow}
        <button class="launcher" data-testid="launcher" aria-expanded=${this.isOpen} aria-label=${label} title=${label}
          @click=${() => (this.isOpen ? this.close() : this.open())}>${this.isOpen ? icons.down : icons.chat}</button>`,
      this.root,
    );
  }

  private renderWindow() {
    const { options } = this;
    return html`<div class="window" role="dialog" aria-label=${options.title} ?hidden=${!this.isOpen}>
      <header>
        <h2>${options.title}</h2>
        ${options.metrics ? this.renderMetricsButton() : nothing}
        <button class="icon" aria-label="Close" title="Close" @click=${() => this.close()}>${icons.close}</button>
      </header>
      <vivace-chat ?hidden=${this.showsMetrics} .engine=${this.engine} .loadSettings=${this.session?.settings ?? STANDARD_LOAD}
        .tuning=${this.tuning} @vivace-cancel-tuning=${() => this.panel?.cancelTuning()}
        .heading=${options.title} .system=${options.system} .welcome=${options.welcome} .examples=${options.examples}
        @vivace-run=${() => this.panel?.reset()} @vivace-end=${() => this.panel?.end()}
        @vivace-event=${this.onEvent} @vivace-reload=${this.onReload}>
        <vivace-notices slot="notice"></vivace-notices>
        <vivace-loader slot="loading" .state=${this.state} @vivace-cancel-load=${() => this.session?.cancel()}
          @vivace-load-offer=${(event: CustomEvent<Offer>) => this.session?.take(event.detail)}></vivace-loader>
      </vivace-chat>
      ${
        options.metrics
          ? html`<vivace-metrics data-testid="metrics" ?hidden=${!this.showsMetrics} .theme=${options.theme}
              .engine=${this.engine} .info=${this.engine?.info ?? null}
              .asked=${this.session?.settings.attention ?? 'auto'} @vivace-tuning=${this.onTuning}></vivace-metrics>`
          : nothing
      }
    </div>`;
  }

  private renderMetricsButton() {
    return html`<button class="icon" aria-label="Timing" title="Timing" aria-pressed=${this.showsMetrics} @click=${() => {
      this.showsMetrics = !this.showsMetrics;
      this.render();
    }}>${icons.chart}</button>`;
  }

  private onEvent = (event: CustomEvent<EngineEvent>) => {
    this.panel?.record(event.detail);
    if (event.detail.type === 'warning') this.warn([event.detail]);
    this.emit('event', event.detail);
  };

  private onTuning = (event: CustomEvent<Tuning | null>) => {
    this.tuning = event.detail;
    this.render();
  };

  private onReload = (event: CustomEvent<LoadSettings>) => {
    if (!this.session) return;
    this.session.settings = event.detail;
    void this.session.load();
  };
}
