// The note in the list of conversations: the last action or error, and a button to undo it.

import { html, type LitElement, nothing, type ReactiveController } from 'lit';
import { pageWords } from '../../words/page_words';
import { icons } from '../shared/icons';

const NOTE_MS = 10_000;

interface Note {
  text: string;
  isError: boolean;
  /** Undoes the action. Offered while the note is visible. */
  undo: (() => void) | null;
}

export class LibraryNote implements ReactiveController {
  private note: Note | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly host: LitElement) {
    host.addController(this);
  }

  get undo(): (() => void) | null {
    return this.note?.undo ?? null;
  }

  /** @param stays until it is dismissed, or until the next note */
  say(text: string, isError: boolean, undo: (() => void) | null = null, stays = isError): void {
    this.set({ text, isError, undo });
    clearTimeout(this.timer);
    if (!stays) this.dismissLater();
  }

  /** Removes the note. Returns whether it had the focus, which is then lost. */
  dismiss(): boolean {
    const hadFocus = this.host.renderRoot.querySelector('.note:focus-within') !== null;
    this.set(null);
    return hadFocus;
  }

  render(dismiss: () => void) {
    return renderNote(this.note, dismiss);
  }

  hostDisconnected(): void {
    clearTimeout(this.timer);
  }

  /** Removes the note after a while: not under the pointer or the focus. */
  private dismissLater(): void {
    this.timer = setTimeout(() => {
      if (this.host.renderRoot.querySelector('.note:is(:hover, :focus-within)')) this.dismissLater();
      else this.set(null);
    }, NOTE_MS);
  }

  private set(note: Note | null): void {
    this.note = note;
    this.host.requestUpdate();
  }
}

function renderNote(note: Note | null, dismiss: () => void) {
  const text = pageWords().library;
  return html`<div class="note" role=${note?.isError ? 'alert' : 'status'} data-testid="library-note">
    ${
      note
        ? html`<p>${note.text}</p>
            ${note.undo ? html`<button class="button" data-testid="library-undo" @click=${note.undo}>${text.undo}</button>` : nothing}
            <button class="icon small" title=${text.dismiss} aria-label=${text.dismiss} @click=${dismiss}>${icons.close}</button>`
        : nothing
    }
  </div>`;
}
