// The entry `vivace/preact`: defines the elements, and tells Preact's JSX of them.

import type { ClassAttributes, HTMLAttributes } from 'preact';
import type { ChatEvents, MetricsEvents, VivaceChat, VivaceMetrics } from '../elements/elements_entry';
import type { ChatMarkup, Listeners, MetricsMarkup } from './markup';

export * from '../elements/elements_entry';

type Html<T extends HTMLElement, Own> = Omit<HTMLAttributes<T>, keyof Own> & ClassAttributes<T> & Own;

declare module 'preact' {
  namespace JSX {
    interface IntrinsicElements {
      'vivace-chat': Html<VivaceChat, ChatMarkup & Listeners<ChatEvents>>;
      'vivace-metrics': Html<VivaceMetrics, MetricsMarkup & Listeners<MetricsEvents>>;
    }
  }
}
