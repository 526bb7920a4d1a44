// <vivace-metrics for="id">: a panel that finds its chat by itself. It hears the chat's events where they pass, at the root of their tree,
// so that it does not matter which of the two comes first, or is put there later.

import type { ReactiveController } from 'lit';
import type { EngineEvent } from '../engine/engine';
import type { VivaceMetrics } from '../metrics/panel/metrics_panel';
import type { VivaceChat } from '../ui/chat/chat';
import { protect } from './protect';

class MetricsFor implements ReactiveController {
  private connected = new AbortController();
  /** The chat that waits for this panel's tuner. */
  private waiting: VivaceChat | null = null;

  constructor(private readonly panel: VivaceMetrics) {
    panel.addController(this);
  }

  hostConnected(): void {
    if (!this.panel.hasAttribute('for')) return;
    protect(this.panel, 'block');
    const { signal } = this.connected;
    const root = this.panel.getRootNode();
    const hear = (name: string, listener: (event: CustomEvent) => void) =>
      root.addEventListener(
        name,
        (event) => {
          if (event.target instanceof Element && event.target.id === this.panel.getAttribute('for')) {
            listener(event as CustomEvent);
          }
        },
        { capture: true, signal }, // they do not bubble
      );
    hear('vivace-engine', () => this.follow());
    hear('vivace-run', () => {
      this.follow();
      this.panel.reset();
    });
    hear('vivace-event', ({ detail }: CustomEvent<EngineEvent>) => this.panel.record(detail));
    hear('vivace-end', () => this.panel.end());
    hear('vivace-cancel-tuning', () => this.panel.cancelTuning());
    const onTuning = (event: Event) => {
      const { chat } = this;
      if (!chat) return;
      chat.tuning = (event as CustomEvent).detail;
      this.waiting = chat.tuning && chat;
    };
    this.panel.addEventListener('vivace-tuning', onTuning, { signal });
    this.follow();
  }

  hostDisconnected(): void {
    this.connected.abort();
    this.connected = new AbortController();
    if (!this.waiting) return;
    // From here on nobody hears when the tuner is done.
    this.panel.cancelTuning();
    this.waiting.tuning = null;
    this.waiting = null;
  }

  /** Null while the chat is not there, or is not yet what it will be. */
  private get chat(): VivaceChat | null {
    const root = this.panel.getRootNode() as Document | ShadowRoot;
    return root.querySelector<VivaceChat>(`vivace-chat#${CSS.escape(this.panel.getAttribute('for') ?? '')}`);
  }

  private follow(): void {
    const { chat } = this;
    const theme = chat?.dataset.theme ?? 'auto';
    this.panel.dataset.theme = theme;
    this.panel.theme = theme;
    this.panel.engine = chat?.engine ?? null;
    this.panel.info = chat?.engine?.info ?? null;
  }
}

/** Every panel of the page, now and later, listens to its attribute. */
export function followChats(panels: typeof VivaceMetrics): void {
  if (customElements.get('vivace-metrics') !== panels) return; // another copy of the script was first, and does it
  panels.addInitializer((panel) => new MetricsFor(panel as VivaceMetrics));
  for (const panel of document.querySelectorAll('vivace-metrics')) new MetricsFor(panel);
}
