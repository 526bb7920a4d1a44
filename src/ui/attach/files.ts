// <vivace-files>: attached files as chips with name and size. They can be removed where `removable`, and unfolded to
// their text elsewhere. Fires `vivace-remove` with the index of a file.

import { css, html, nothing } from 'lit';
import { formatSize } from '../../shared/format';
import { pageWords } from '../../words/page_words';
import { WordedElement } from '../../words/worded_element';
import { type Attachment, bytesOf } from '../conversation/attachments';
import { icons } from '../shared/icons';
import { sharedStyles } from '../shared/shared_styles';

/** Letters shown of an unfolded file: a page of a million letters would hold up a frame. */
const SHOWN_LETTERS = 50_000;

class VivaceFiles extends WordedElement {
  static override styles = [
    sharedStyles,
    css`
      :host { display: flex; flex-wrap: wrap; gap: 6px; max-width: 100%; min-width: 0; }
      .chip {
        display: inline-flex; align-items: center; gap: 6px; max-width: 100%; min-height: 32px; padding: 2px 10px; border: 1px solid var(--v-line);
        border-radius: 9px; background: var(--v-surface); color: var(--v-ink); font-size: var(--v-size-small);
      }
      .chip svg { flex: none; width: 15px; height: 15px; color: var(--v-muted); }
      .chip.removable { padding-inline-end: 2px; }
      bdi { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 240px; }
      .size { flex: none; color: var(--v-muted); font-variant-numeric: tabular-nums; }
      details { max-width: 100%; min-width: 0; }
      details[open] { flex-basis: 100%; }
      summary { list-style: none; cursor: pointer; user-select: none; -webkit-user-select: none; }
      summary::-webkit-details-marker { display: none; }
      summary:hover { border-color: color-mix(in srgb, var(--v-ink) 30%, var(--v-line)); }
      pre {
        margin: 6px 0 0; padding: 10px 14px; max-height: 320px; overflow: auto; border-radius: 11px; background: var(--v-sunken);
        font: var(--v-size-small) / 1.5 var(--v-mono); white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext;
      }
      .icon.small { width: 26px; height: 26px; }
      @media (pointer: coarse) { .chip { min-height: 44px; } .icon.small { width: 44px; height: 44px; } }
    `,
  ];
  static override properties = { files: { attribute: false }, removable: { type: Boolean }, opened: { state: true } };
  declare files: readonly Attachment[];
  declare removable: boolean;
  /** The files that are unfolded. */
  declare opened: ReadonlySet<Attachment>;

  constructor() {
    super();
    this.files = [];
    this.removable = false;
    this.opened = new Set();
  }

  override render() {
    return this.files.map((file, i) => (this.removable ? this.renderRemovable(file, i) : this.renderFolded(file)));
  }

  private renderRemovable(file: Attachment, i: number) {
    const label = pageWords().attach.remove(file.name);
    return html`<span class="chip removable" data-testid="attached">
      ${renderName(file)}
      <button class="icon small" data-testid="remove-attached" title=${label} aria-label=${label} @click=${() => this.takeOff(i)}>${icons.close}</button>
    </span>`;
  }

  private renderFolded(file: Attachment) {
    return html`<details @toggle=${(event: Event) => this.onToggle(file, event)}>
      <summary class="chip" data-testid="attached">${renderName(file)}</summary>
      ${this.opened.has(file) ? renderText(file) : nothing}
    </details>`;
  }

  private onToggle(file: Attachment, { target }: Event): void {
    const opened = new Set(this.opened);
    if ((target as HTMLDetailsElement).open) opened.add(file);
    else opened.delete(file);
    this.opened = opened;
  }

  /** Fires the event. The focus of the last button, which goes, moves to the field of the question. */
  private takeOff(i: number): void {
    const isLast = this.files.length === 1;
    this.dispatchEvent(new CustomEvent('vivace-remove', { detail: i }));
    // On touch screens a focused field would open the keyboard.
    if (!isLast || !matchMedia('(hover: hover)').matches) return;
    (this.getRootNode() as ShadowRoot).querySelector<HTMLElement>('vivace-composer, textarea')?.focus();
  }
}

function renderName(file: Attachment) {
  return html`${icons.clip}<bdi title=${file.name}>${file.name}</bdi><span class="size">${formatSize(bytesOf(file))}</span>`;
}

/** Focusable, because a text that scrolls must be reached by keys. */
function renderText({ name, text }: Attachment) {
  const more = text.length - SHOWN_LETTERS;
  return html`<pre tabindex="0" aria-label=${name} data-testid="attached-text">${text.slice(0, SHOWN_LETTERS)}${more > 0 ? `\n… ${pageWords().attach.more(more)}` : ''}</pre>`;
}

if (!customElements.get('vivace-files')) customElements.define('vivace-files', VivaceFiles);
