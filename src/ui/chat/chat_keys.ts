// The keys of the chat. Escape stops an answer. In a chat with `shortcuts` Escape does so from anywhere in the
// document, and Ctrl or Cmd + Shift + O begins a new conversation.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { isComposing } from '../shared/input_method';

/** Popovers and modal dialogs: they lie over a page and close by Escape. */
const OPEN_LAYERS = ':popover-open, dialog:modal';

interface KeyedChat extends HTMLElement, ReactiveControllerHost {
  readonly renderRoot: ParentNode;
  readonly shortcuts: boolean;
  readonly isStreaming: boolean;
  stop(): void;
  newConversation(): void;
}

export class ChatKeys implements ReactiveController {
  constructor(private readonly chat: KeyedChat) {
    chat.addController(this);
    chat.addEventListener('keydown', (event) => this.onEscape(event, chat.renderRoot));
  }

  hostConnected(): void {
    document.addEventListener('keydown', this.onShortcut);
  }

  hostDisconnected(): void {
    document.removeEventListener('keydown', this.onShortcut);
  }

  /** Stops the answer, unless the key closes a layer below `root`. */
  private onEscape(event: KeyboardEvent, root: ParentNode): void {
    if (event.key !== 'Escape' || !this.chat.isStreaming || event.defaultPrevented || isComposing(event)) return;
    if (hasOpenLayer(root)) return;
    event.preventDefault();
    this.chat.stop();
  }

  private readonly onShortcut = (event: KeyboardEvent) => {
    if (!this.chat.shortcuts) return;
    this.onEscape(event, document);
    if (event.code !== 'KeyO' || !event.shiftKey || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    this.chat.newConversation();
  };
}

/** True if a layer is open below `root`, shadow roots included. */
function hasOpenLayer(root: ParentNode): boolean {
  if (root.querySelector(OPEN_LAYERS)) return true;
  return [...root.querySelectorAll('*')].some(({ shadowRoot }) => shadowRoot && hasOpenLayer(shadowRoot));
}
