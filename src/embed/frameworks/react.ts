// The entry `vivace/react`: defines the elements, and tells React's JSX of them. React 19 sets properties and hears
// `onvivace-event`; React 18 sets attributes alone, and its events need a ref and addEventListener.

import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { ChatEvents, MetricsEvents, VivaceChat, VivaceMetrics } from '../elements/elements_entry';
import type { ChatMarkup, Listeners, MetricsMarkup } from './markup';

export * from '../elements/elements_entry';

type Html<T> = DetailedHTMLProps<HTMLAttributes<T>, T>;

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'vivace-chat': Html<VivaceChat> & ChatMarkup & Listeners<ChatEvents>;
      'vivace-metrics': Html<VivaceMetrics> & MetricsMarkup & Listeners<MetricsEvents>;
    }
  }
}
