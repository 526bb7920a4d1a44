// <vivace-metrics for="id">: a panel that finds its chat by the id. It listens at the root of their tree, where the chat's events
// pass, so that either of the two may come first, or be put there later.

import type { ReactiveController } from 'lit';
import type { VivaceMetrics } from '../metrics/panel/metrics_panel';
import type { VivaceChat } from '../ui/chat/chat';
import { connectPanel } from '../ui/chat/connect_panel';
import { protect } from './protect';

class MetricsFor implements ReactiveController {
  private connected = new AbortController();
  /** The chat that the panel is wired to, and the end of the wires. */
  private followed: VivaceChat | null = null;
  private following = new AbortController();

  constructor(private readonly panel: VivaceMetrics) {
    panel.addController(this);
  }

  hostConnected(): void {
    const { panel, connected } = this;
    if (!panel.hasAttribute('for')) return;
    protect(panel, 'block');
    const onEvent = ({ target }: Event) => {
      if (target instanceof Element && target.id === panel.getAttribute('for')) this.follow();
    };
    // In the capture phase: the events do not bubble, and a chat that is new to the panel still has to pass this one on.
    const options = { capture: true, signal: connected.signal };
    for (const name of ['vivace-engine', 'vivace-run']) panel.getRootNode().addEventListener(name, onEvent, options);
    this.follow();
  }

  hostDisconnected(): void {
    this.connected.abort();
    this.connected = new AbortController();
    this.part();
  }

  /** Null while the chat is not there. */
  private get chat(): VivaceChat | null {
    const root = this.panel.getRootNode() as Document | ShadowRoot;
    return root.querySelector<VivaceChat>(`vivace-chat#${CSS.escape(this.panel.getAttribute('for') ?? '')}`);
  }

  private follow(): void {
    const { chat, panel } = this;
    const theme = chat?.dataset.theme ?? 'auto';
    panel.dataset.theme = theme;
    panel.theme = theme;
    if (!chat) panel.engine = null;
    if (chat === this.followed) return;
    this.part();
    this.followed = chat;
    if (chat) connectPanel(chat, panel, this.following.signal);
  }

  private part(): void {
    this.following.abort();
    this.following = new AbortController();
    this.followed = null;
  }
}

/** Gives every panel of the page, now and later, its attribute. */
export function followChats(panels: typeof VivaceMetrics): void {
  if (customElements.get('vivace-metrics') !== panels) return; // another copy of the script was first, and does it
  panels.addInitializer((panel) => new MetricsFor(panel as VivaceMetrics));
  for (const panel of document.querySelectorAll('vivace-metrics')) new MetricsFor(panel);
}
