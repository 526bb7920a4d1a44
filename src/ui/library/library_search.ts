// The search over all conversations: the field above the list, and the results that take the list's place.

import { html, type LitElement, nothing, type ReactiveController } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { pageWords } from '../../words/page_words';
import type { Summary } from '../conversation/conversation_index';
import { icons } from '../shared/icons';
import { isComposing } from '../shared/input_method';
import type { Found, Part, Searched } from './find_words';
import { wordsOf } from './fold';
import { libraryParts } from './later_parts';
import type { SearchScan } from './search_scan';
import { MAX_RESULTS, type ScanState } from './search_state';

/** Milliseconds between two pictures of a search under way. */
const SHOW_MS = 100;
/** Milliseconds after which a search says how far it is. */
const LONG_MS = 400;
/** Letters of a search. */
const MAX_QUERY = 200;

interface SearchHost extends LitElement {
  readonly current: string;
  readonly summaries: readonly Summary[] | null;
  /** Opens a conversation at a turn, or at its end. */
  open(id: string, turn?: string | null): Promise<void>;
}

export class LibrarySearch implements ReactiveController {
  private text = '';
  private state: ScanState | null = null;
  private running: AbortController | null = null;
  private isLong = false;
  private scan: SearchScan | null = null;
  /** What had the focus before a key led here. */
  private before: HTMLElement | null = null;

  constructor(
    private readonly host: SearchHost,
    private readonly load: (id: string) => Promise<Searched | null>,
    private readonly onFailure: () => void,
  ) {
    host.addController(this);
  }

  /** True while there are words to search for: the results stand in place of the list. */
  get isOn(): boolean {
    return wordsOf(this.text).length > 0;
  }

  focus(): void {
    if (!this.isFocused) this.before = focusedElement();
    this.field?.focus();
    this.field?.select();
  }

  hostDisconnected(): void {
    this.clear();
  }

  /** Searches again, because conversations came or went. */
  again(): void {
    if (this.isOn) void this.run().catch(this.onFailure);
  }

  renderField() {
    const text = pageWords().search;
    return html`<search class="search">
      ${icons.search}
      <input type="search" data-testid="library-search" aria-label=${text.label} placeholder=${text.placeholder} dir="auto" maxlength=${MAX_QUERY}
        enterkeyhint="search" autocomplete="off" spellcheck="false" aria-keyshortcuts="Control+K Meta+K" .value=${this.text}
        @input=${this.onInput} @keydown=${this.onKey} />
      ${
        this.text === ''
          ? html`<kbd aria-hidden="true">${IS_APPLE ? '⌘K' : text.shortcut}</kbd>`
          : html`<button class="icon small" title=${text.clear} aria-label=${text.clear} data-testid="library-search-clear"
              @click=${this.onClear}>${icons.close}</button>`
      }
    </search>`;
  }

  renderResults() {
    const { found = [], done = 0, total = 0 } = this.state ?? {};
    const isDone = this.state !== null && this.running === null;
    return html`
      <p class="searched" role="status" data-testid="library-searched">${isDone ? sayFound(found.length) : ''}</p>
      ${
        this.running && this.isLong
          ? html`<p class="searched">${pageWords().search.searching(done, total)}</p>`
          : nothing
      }
      <ul class="results" @keydown=${this.onResultKey}>
        ${repeat(
          found,
          ({ id }) => id,
          (result) => this.renderResult(result),
        )}
      </ul>`;
  }

  private renderResult({ id, title, turn, excerpt }: Found) {
    const isCurrent = id === this.host.current;
    return html`<li>
      <button class=${isCurrent ? 'result current' : 'result'} data-testid="library-result" aria-current=${isCurrent ? 'true' : nothing}
        @click=${() => void this.host.open(id, turn)}>
        <strong dir="auto">${renderParts(title)}</strong>
        ${excerpt.length > 0 ? html`<span class="excerpt" dir="auto">${renderParts(excerpt)}</span>` : nothing}
      </button>
    </li>`;
  }

  private async run(): Promise<void> {
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    this.isLong = false;
    const started = performance.now();
    let shown = started;
    const { SearchScan } = await libraryParts();
    if (running.signal.aborted) return;
    this.scan ??= new SearchScan(this.load);
    this.scan.forget(this.host.current);
    await this.scan.run(wordsOf(this.text), this.host.summaries ?? [], running.signal, (state) => {
      const now = performance.now();
      this.isLong = now - started > LONG_MS;
      const isEnd = state.done === state.total;
      // The results from before stay until there are new ones, so that the list does not flicker at each letter.
      if (!isEnd && (now - shown < SHOW_MS || (state.found.length === 0 && !this.isLong))) return;
      shown = now;
      this.state = state;
      if (isEnd) this.running = null;
      this.host.requestUpdate();
    });
  }

  private clear(): void {
    this.running?.abort();
    this.running = null;
    this.text = '';
    this.state = null;
    this.scan?.clear();
    this.host.requestUpdate();
  }

  private get field(): HTMLInputElement | null {
    return this.host.renderRoot.querySelector('.search input');
  }

  private get isFocused(): boolean {
    return this.field?.matches(':focus') === true;
  }

  private get results(): HTMLElement[] {
    return [...this.host.renderRoot.querySelectorAll<HTMLElement>('.result')];
  }

  /** Gives the focus back to where a key took it from. False if that takes none, as below an open drawer. */
  private leaves(): boolean {
    this.before?.focus();
    return !this.isFocused;
  }

  private onInput = (event: Event) => {
    const text = (event.target as HTMLInputElement).value.slice(0, MAX_QUERY);
    if (wordsOf(text).length === 0) this.clear();
    this.text = text;
    this.again();
    this.host.requestUpdate();
  };

  private onClear = () => {
    this.clear();
    this.field?.focus();
  };

  private onKey = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === 'Escape' && this.text !== '') this.onClear();
    else if (event.key === 'Escape' && this.leaves()) this.before = null;
    else if (event.key === 'ArrowDown' && this.isOn) this.results[0]?.focus();
    else if (event.key === 'Enter' && this.isOn) this.results[0]?.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  private onResultKey = (event: KeyboardEvent) => {
    const { results } = this;
    const at = results.indexOf(event.composedPath()[0] as HTMLElement);
    if (event.key === 'Escape') this.onClear();
    else if (event.key === 'ArrowUp') (results[at - 1] ?? this.field)?.focus();
    else if (event.key === 'ArrowDown') results[at + 1]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
}

function focusedElement(): HTMLElement | null {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  return found instanceof HTMLElement ? found : null;
}

const IS_APPLE = /Mac|iP(hone|ad|od)/.test(navigator.platform);

function renderParts(parts: readonly Part[]) {
  return parts.map(({ text, isFound }) => (isFound ? html`<mark>${text}</mark>` : text));
}

function sayFound(n: number): string {
  const text = pageWords().search;
  if (n === 0) return text.none;
  return n === MAX_RESULTS ? text.most(n) : text.found(n);
}
