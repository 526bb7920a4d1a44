// <vivace-json>: an answer that is JSON, as a tree that folds. What is folded has no nodes yet, long lists come in
// parts, and all texts are texts, so that an answer of any size and content is safe to show.

import { css, html, nothing, type TemplateResult } from 'lit';
import { pageWords } from '../../words/page_words';
import { WordedElement } from '../../words/worded_element';
import { codeColorStyles } from './code_color_styles';
import { visibleText } from './markdown_text';

/** Longest answer that is shown as a tree, in UTF-16 units. */
const MAX_TEXT = 1_000_000;
/** Values of a list or an object that are shown at once. */
const AT_ONCE = 100;
/** Letters of a text or a key that are shown. */
const MOST_LETTERS = 2_000;
/** Deepest value that can be unfolded. */
const MAX_DEPTH = 64;
/** Values in a list or object that is unfolded from the beginning. */
const UNFOLDED = 20;

type Container = readonly unknown[] | Readonly<Record<string, unknown>>;

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

/** The value of an answer that is nothing but a JSON object or a list of them. Undefined: it is another text. */
export function readJson(text: string): Container | undefined {
  // Numbers that JavaScript would round are shown as they were written.
  if (text.length > MAX_TEXT || !/^\s*[{[]/.test(text) || /\d{16}/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text, finite);
    const isTree = isContainer(value) && (!Array.isArray(value) || value.some(isContainer));
    return isTree ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @throws RangeError for a number beyond all that JavaScript has */
function finite(_key: string, value: unknown): unknown {
  if (Math.abs(value as number) === Number.POSITIVE_INFINITY) throw new RangeError();
  return value;
}

/** Shows the text as a tree in place of what the element holds. Changes nothing for other texts, and returns false. */
export function showJson(element: HTMLElement, text: string): boolean {
  const value = readJson(text);
  if (value === undefined) return false;
  const view = document.createElement('vivace-json') as VivaceJson;
  view.value = value;
  element.replaceChildren(view);
  return true;
}

const cut = (text: string) => visibleText(text.slice(0, MOST_LETTERS), true) + (text.length > MOST_LETTERS ? '…' : '');

export class VivaceJson extends WordedElement {
  static override styles = [
    codeColorStyles,
    css`
      :host { display: block; direction: ltr; text-align: start; font: var(--v-size) / 1.5 var(--v-mono); overflow-wrap: anywhere; }
      ul { list-style: none; margin: 0; padding-inline-start: 1.3em; }
      ul.top { padding: 0; }
      summary { cursor: pointer; border-radius: 4px; }
      summary:focus-visible, button:focus-visible { outline: 2px solid var(--v-accent); outline-offset: 1px; }
      .count { color: var(--v-muted); }
      .code-string { white-space: pre-wrap; }
      button { border: 0; background: none; padding: 2px; color: var(--v-accent); font: inherit; cursor: pointer; }
      @media (pointer: coarse) { summary, button { min-height: 44px; align-content: center; } }
    `,
  ];
  static override properties = { value: { attribute: false } };
  declare value: Container;
  /** The containers that a reader folded or unfolded. */
  private readonly folds = new Map<Container, boolean>();
  /** The number of shown values by container. */
  private readonly shown = new Map<Container, number>();

  override render() {
    return html`<ul class="top" data-testid="json">${this.renderItem(null, this.value, 0)}</ul>`;
  }

  private renderItem(key: string | null, value: unknown, depth: number): TemplateResult {
    const name = key === null ? nothing : html`<span class="code-property">${cut(key)}</span>: `;
    if (!isContainer(value) || depth > MAX_DEPTH) return html`<li>${name}${renderValue(value)}</li>`;
    const isList = Array.isArray(value);
    const keys = isList ? null : Object.keys(value);
    const count = keys?.length ?? (value as readonly unknown[]).length;
    if (count === 0) return html`<li>${name}${isList ? '[]' : '{}'}</li>`;
    const isOpen = this.folds.get(value) ?? (depth < 2 && (depth === 0 || count <= UNFOLDED));
    const text = pageWords().json;
    return html`<li><details ?open=${isOpen} @toggle=${(event: Event) => this.fold(value, event)}>
      <summary>${name}${isList ? '[' : '{'}<span class="count">${isList ? text.items(count) : text.entries(count)}</span>${isList ? ']' : '}'}</summary>
      ${isOpen ? this.renderInner(value, keys, count, depth) : nothing}
    </details></li>`;
  }

  private renderInner(value: Container, keys: readonly string[] | null, count: number, depth: number) {
    const shown = Math.min(count, this.shown.get(value) ?? AT_ONCE);
    const more = () => {
      this.shown.set(value, shown + AT_ONCE);
      this.requestUpdate();
    };
    const items = Array.from({ length: shown }, (_, i) => {
      const key = keys ? (keys[i] ?? '') : String(i);
      return this.renderItem(key, (value as Readonly<Record<string, unknown>>)[key], depth + 1);
    });
    return html`<ul>${items}${shown < count ? html`<li><button data-testid="json-more" @click=${more}>${pageWords().json.more(count - shown)}</button></li>` : nothing}</ul>`;
  }

  private fold(value: Container, event: Event): void {
    const { open } = event.target as HTMLDetailsElement;
    if (this.folds.get(value) === open) return;
    this.folds.set(value, open);
    this.requestUpdate();
  }
}

function renderValue(value: unknown): TemplateResult {
  if (typeof value === 'string') return html`<span class="code-string">"${cut(value)}"</span>`;
  if (isContainer(value)) return html`<span class="count">…</span>`;
  return html`<span class=${typeof value === 'number' ? 'code-number' : 'code-keyword'}>${String(value)}</span>`;
}

if (!customElements.get('vivace-json')) customElements.define('vivace-json', VivaceJson);
