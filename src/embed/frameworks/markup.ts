// What markup may set on the elements, in the form that JSX and templates share. Types alone. A framework sets the
// property of a name if the element has one, and the attribute otherwise.

import type { LOAD_ATTRIBUTES, Value } from '../../engine/options';
import type { VivaceChat } from '../elements/elements_entry';

type Settings = typeof LOAD_ATTRIBUTES;

/** A value as code gives it, or as static markup does. */
type Written<T> = T | (number extends T ? `${number}` : never);

/** The load settings by the names of their attributes (docs/api.md). */
type LoadAttributes = {
  [K in keyof Settings as Settings[K] extends { name: infer Name extends string } ? Name : K]?: Written<
    Value<Settings[K]>
  >;
};

/** An attribute that counts by its presence. '' sets it in every framework. */
type Flag = boolean | '';

export interface ChatMarkup
  extends LoadAttributes,
    Partial<
      Pick<
        VivaceChat,
        'engine' | 'serverKey' | 'figures' | 'heading' | 'placeholder' | 'settings' | 'system' | 'thinking' | 'welcome'
      >
    > {
  /** Address of a model, or `owner/name` of the hub. */
  model?: string;
  /** The hub of `owner/name`. */
  hub?: string;
  /** SHA-256 of the model's file in hex. */
  sha256?: string;
  /** Address of vivace_worker.js on the page's own origin. */
  worker?: string;
  /** A server that answers instead of the model or beside it, the name of its model, and when it answers. */
  server?: string;
  'server-model'?: string;
  'server-rule'?: 'remote' | 'remote-until-loaded' | `longer-than-${number}`;
  /** Loads the model at once instead of at the first use. */
  autoload?: Flag;
  /** All tabs of the site with this model have one engine. */
  share?: Flag;
  theme?: 'auto' | 'light' | 'dark';
  /** Questions of the empty conversation: a list, or one text with bars between them. */
  examples?: readonly string[] | string | null;
}

export interface MetricsMarkup {
  /** The id of the chat whose answers are shown. */
  for?: string;
  /** Keeps runs in this browser beyond the page. */
  remember?: Flag;
}

/** Listeners by the name of the event behind `on`, such as `onvivace-event`. */
export type Listeners<Events> = { [K in keyof Events & string as `on${K}`]?: (event: Events[K]) => void };
