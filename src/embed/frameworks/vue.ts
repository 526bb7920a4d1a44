// The entry `vivace/vue`: defines the elements, and tells Vue's templates of them. A project tells its compiler that
// they are elements of the browser: `isCustomElement: (tag) => tag.startsWith('vivace-')`.

import type { HTMLAttributes, PublicProps } from 'vue';
import type { ChatEvents, MetricsEvents, VivaceChat, VivaceMetrics } from '../elements/elements_entry';
import type { ChatMarkup, MetricsMarkup } from './markup';

export * from '../elements/elements_entry';

/** 'vivace-event' as the end of 'onVivaceEvent', which `@vivace-event` becomes. */
type Camel<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Capitalize<Head>}${Camel<Tail>}`
  : Capitalize<S>;
type VueListeners<Events> = { [K in keyof Events & string as `on${Camel<K>}`]?: (event: Events[K]) => void };

/** An element as Vue knows components: by the props of what its constructor makes. */
type Known<T extends HTMLElement, Markup> = new () => T & { $props: HTMLAttributes & Markup & PublicProps };

declare module 'vue' {
  interface GlobalComponents {
    'vivace-chat': Known<VivaceChat, ChatMarkup & VueListeners<ChatEvents>>;
    'vivace-metrics': Known<VivaceMetrics, MetricsMarkup & VueListeners<MetricsEvents>>;
  }
}
