// <vivace-metrics for="id">: a panel that finds its chat by id. It listens for the chat's events at the root of their
// common tree, so that panel and chat may be added in either order.

import type { ReactiveController } from 'lit';
import type { VivaceMetrics } from '../../metrics/panel/metrics_panel';
import type { VivaceChat } from '../../ui/chat/chat';
import { connectPanel } from '../../ui/chat/connect_panel';
import { findMisspelled } from '../shared/misspelled';
import { protect, showTheme } from '../shared/protect';

class MetricsFor implements ReactiveController {
  private connected = new AbortController();
  /** The chat connected to the panel. `following` ends the connection. */
  private followed: VivaceChat | null = null;
  private following = new AbortController();
  private readonly changes = new MutationObserver(() => this.follow());

  constructor(private readonly panel: VivaceMetrics) {
    panel.addController(this);
  }

  hostConnected(): void {
    const { panel, connected } = this;
    this.changes.observe(panel, { attributeFilter: ['for'] });
    void panel.updateComplete.then(() => this.warn()); // a framework may set its attributes afterwards
    const onEvent = ({ target }: Event) => {
      if (target instanceof Element && target.id === panel.getAttribute('for')) this.follow();
    };
    // The capture phase sees events that do not bubble, and connects a new chat before it delivers the event to the
    // panel.
    const options = { capture: true, signal: connected.signal };
    for (const name of ['vivace-engine', 'vivace-run']) panel.getRootNode().addEventListener(name, onEvent, options);
    this.follow();
  }

  hostDisconnected(): void {
    this.changes.disconnect();
    this.connected.abort();
    this.connected = new AbortController();
    this.part();
  }

  /** Warns of misspelled attributes, or of a panel that nothing feeds. One in a shadow root may belong to a widget. */
  private warn(): void {
    const { panel } = this;
    const complaints: string[] = [];
    const known = ['for', ...(panel.constructor as typeof VivaceMetrics).observedAttributes];
    const names = panel.getAttributeNames();
    findMisspelled(names, known, '', complaints);
    if (complaints.length === 0 && !names.includes('for') && panel.getRootNode() === document && !panel.info)
      complaints.push('has no for="id of a <vivace-chat>" (docs/embedding.md); it shows no answers.');
    for (const complaint of complaints) console.warn(`Vivace: <vivace-metrics> ${complaint}`);
  }

  /** The chat with the id, or null while the tree holds none. */
  private get chat(): VivaceChat | null {
    const root = this.panel.getRootNode() as Document | ShadowRoot;
    const id = this.panel.getAttribute('for');
    return id ? root.querySelector<VivaceChat>(`vivace-chat#${CSS.escape(id)}`) : null;
  }

  /** Follows the chat that the attribute names now. A panel that never had the attribute is left alone. */
  private follow(): void {
    const { chat, panel } = this;
    if (!panel.hasAttribute('for') && !this.followed) return;
    protect(panel, 'block');
    const theme = chat?.dataset.theme ?? 'auto';
    showTheme(panel, theme);
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

/** Makes every present and future panel of the page follow its `for` attribute. */
export function followChats(panels: typeof VivaceMetrics): void {
  if (customElements.get('vivace-metrics') !== panels) return; // an earlier copy of the script does this already
  panels.addInitializer((panel) => new MetricsFor(panel as VivaceMetrics));
  for (const panel of document.querySelectorAll('vivace-metrics')) new MetricsFor(panel);
}
