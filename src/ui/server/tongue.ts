// The language of this part. The script tag's file of it stands alone: the script that loads it says which language it
// shows.

import { LitElement } from 'lit';
import { type Language, language, onLanguage } from '../../words/language';
import { serverWords } from '../../words/server_words';

export interface Tongue {
  language: () => Language;
  onLanguage: (listener: () => void) => () => void;
}

let tongue: Tongue = { language, onLanguage };

export function useTongue(other: Tongue): void {
  tongue = other;
}

export const say = () => serverWords(tongue.language());

export const inTongue = (value: number): string => value.toLocaleString(tongue.language());

export const onTongue: Tongue['onLanguage'] = (listener) => tongue.onLanguage(listener);

/** The base of this part's elements: they render again when the language changes. */
export class SpokenElement extends LitElement {
  private stopHearing: (() => void) | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.stopHearing ??= onTongue(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopHearing?.();
    this.stopHearing = null;
  }
}
