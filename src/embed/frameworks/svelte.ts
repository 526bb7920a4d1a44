// The entry `vivace/svelte`: defines the elements, and tells Svelte's markup of them.

import type { HTMLAttributes } from 'svelte/elements';
import type { ChatEvents, MetricsEvents, VivaceChat, VivaceMetrics } from '../elements/elements_entry';
import type { ChatMarkup, Listeners, MetricsMarkup } from './markup';

export * from '../elements/elements_entry';

type Html<T extends EventTarget> = HTMLAttributes<T>;

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'vivace-chat': Html<VivaceChat> & ChatMarkup & Listeners<ChatEvents>;
    'vivace-metrics': Html<VivaceMetrics> & MetricsMarkup & Listeners<MetricsEvents>;
  }
}
