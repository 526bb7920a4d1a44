// The contract between the tag and the file that keeps its conversation. Types alone: the two are bundles of their own.

import type { VivaceChat } from '../../ui/chat/chat';
import type { Language } from '../../words/language';

export type KeptChat = Pick<VivaceChat, 'conversation' | 'system' | 'newConversation' | 'focus' | 'addEventListener'>;

export interface KeptOptions {
  /** Tells the conversations of one site apart. */
  name: string;
  /** The place of the line about the kept conversation. */
  place: HTMLElement;
  /** True if a visitor may change the system message, so that it is a part of the conversation. */
  keepsSystem: boolean;
  /** The language of the tag, which the file beside it does not know. */
  language(): Language;
  onLanguage(listener: () => void): () => void;
}

/** A conversation that is being kept. */
export interface Kept {
  /** Deletes it, shown and stored, for good. */
  forget(): Promise<void>;
  close(): void;
}

/** The exports of embed_remember.js. */
export interface RememberPart {
  /** Resolves when the stored conversation is shown, if there is one. */
  keep(chat: KeptChat, options: KeptOptions): Promise<Kept>;
  /** Deletes what a tag of this name keeps, without a chat. */
  forget(name: string): Promise<void>;
}
