// Dismissible notices on top of the conversation: what the engine warns of, once each.

import type { Warning } from '../engine/engine';

export class Notices {
  private readonly shown = new Set<string>();

  constructor(private readonly parent: HTMLElement) {}

  show({ code, message }: Warning): void {
    const key = `${code} ${message}`;
    if (this.shown.has(key)) return;
    this.shown.add(key);
    const notice = document.createElement('div');
    notice.className = 'notice';
    notice.dataset.testid = 'notice';
    notice.dataset.code = code;
    notice.setAttribute('role', 'status');
    const text = document.createElement('p');
    text.textContent = message;
    const close = document.createElement('button');
    close.className = 'top-button';
    close.type = 'button';
    close.textContent = 'Dismiss';
    close.addEventListener('click', () => notice.remove());
    notice.append(text, close);
    this.parent.append(notice);
  }

  clear(): void {
    this.shown.clear();
    this.parent.replaceChildren();
  }
}
