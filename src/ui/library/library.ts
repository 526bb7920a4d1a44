// <vivace-library>: the list of the conversations that this browser keeps. Fires `vivace-open-conversation` with the
// chosen conversation, `vivace-new-conversation` for an empty one (`deleted`: because the visible one is gone),
// `vivace-close-library` when the visible one is chosen again, `vivace-show-turn` with the turn that a search has found
// in it, and `vivace-title` with the title of the visible one, or ''.

import { html, nothing } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { sayError } from '../../words/error_words';
import { language } from '../../words/language';
import { pageWords } from '../../words/page_words';
import { WordedElement } from '../../words/worded_element';
import type { Turn } from '../conversation/conversation';
import { type Summary, summarize } from '../conversation/conversation_index';
import { mergeConversations } from '../conversation/conversation_merge';
import { ConversationStore } from '../conversation/conversation_store';
import { type Conversation, ownTitle, wholeTitleOf } from '../conversation/conversation_tree';
import { icons } from '../shared/icons';
import { sharedStyles } from '../shared/shared_styles';
import { libraryParts } from './later_parts';
import { LibraryKeeper } from './library_keeper';
import { LibraryMenu } from './library_menu';
import { LibraryNote } from './library_note';
import { groupByDay, neighborOf, type RowActions, renderRow } from './library_rows';
import { LibrarySearch } from './library_search';
import { libraryStyles } from './library_styles';

class VivaceLibrary extends WordedElement implements RowActions {
  static override styles = [sharedStyles, libraryStyles];
  static override properties = {
    current: {},
    summaries: { state: true },
    renamed: { state: true },
    stop: { state: true },
  };
  /** Id of the conversation that the chat shows. */
  declare current: string;
  /** Null until the list is read. */
  declare summaries: Summary[] | null;
  /** The row that is renamed, and the title that its field began with: the row may show less. */
  declare renamed: { id: string; title: string } | null;
  /** Id of the row in the Tab order. */
  declare stop: string | null;

  private readonly store = new ConversationStore();
  private readonly keeper = new LibraryKeeper(this.store);
  private readonly note = new LibraryNote(this);
  private readonly menu = new LibraryMenu(this, this);
  private readonly finder = new LibrarySearch(
    this,
    async (id) => this.keeper.newer.get(id) ?? this.store.load(id),
    () => this.sayUnreadable(),
  );
  private stopListening = () => {};
  /** Counts what the reader has chosen to see: only the newest choice is shown, however long it takes. */
  private choices = 0;
  /** The title that the page knows. */
  private told = '';

  constructor() {
    super();
    this.current = '';
    this.summaries = null;
    this.renamed = null;
    this.stop = null;
    this.store.onError = (message, code) => this.note.say(sayError({ code, message }).text, true);
    this.store.onRecovered = () => this.note.say(pageWords().library.keptAgain, false);
    this.addEventListener('keydown', this.onKey);
  }

  /** Takes the page's conversation after every change. Stores it soon, and at the latest when the page closes. */
  keep(conversation: Conversation): void {
    this.keeper.keep(conversation);
  }

  /** Takes the page's turn while it streams. Its text survives a crash of the page. */
  keepGrown(id: string, turn: Turn): void {
    this.keeper.keepGrown(id, turn);
  }

  /** Resolves when the conversations passed to `keep` are stored or refused. */
  keepNow(): Promise<void> {
    return this.keeper.flush();
  }

  /** The conversation to begin with: the one changed last, or null. */
  async openNewest(): Promise<Conversation | null> {
    await this.refresh();
    for (const { id } of this.summaries ?? []) {
      const conversation = await this.store.load(id);
      if (!conversation) continue;
      this.adopt(conversation);
      return conversation;
    }
    return null;
  }

  /** A conversation for the page to show, or null if it is not stored. */
  async find(id: string): Promise<Conversation | null> {
    const conversation = await this.newest(id).catch(() => null);
    if (conversation) this.adopt(conversation);
    return conversation;
  }

  /** Focuses the field of the search. */
  search(): void {
    this.finder.focus();
  }

  async open(id: string, turn: string | null = null): Promise<void> {
    const choice = ++this.choices;
    if (id === this.current) {
      this.fire('vivace-close-library');
      return this.showTurn(turn);
    }
    await this.attempt(async () => {
      const conversation = await this.newest(id);
      if (choice !== this.choices) return;
      if (!conversation) {
        this.note.say(pageWords().library.deletedElsewhere, true);
        return this.refresh();
      }
      this.show(conversation);
      this.showTurn(turn);
    });
  }

  /** The field is there at once, for what is typed at once; the whole title follows where nothing was typed. */
  async startRename(id: string): Promise<void> {
    const title = this.titleOf(id);
    const field = await this.fillRename(id, title);
    const conversation = await this.newest(id).catch(() => null);
    if (!conversation || this.renamed?.id !== id || field?.value !== title) return;
    await this.fillRename(id, ownTitle(wholeTitleOf(conversation)));
  }

  private async fillRename(id: string, title: string): Promise<HTMLInputElement | null> {
    this.renamed = { id, title };
    await this.updateComplete;
    const field = this.renderRoot.querySelector<HTMLInputElement>('.rename');
    field?.select();
    return field;
  }

  async rename(id: string, title: string, keepFocus = false): Promise<void> {
    const before = this.renamed;
    if (before?.id !== id) return; // the field loses its focus as it disappears
    this.renamed = null;
    if (keepFocus) void this.focusRow(id);
    if (title === before.title) return;
    await this.keeper.flush();
    this.keeper.rename(id, title);
    await this.store.rename(id, title);
    await this.refresh();
  }

  cancelRename(id: string): void {
    this.renamed = null;
    void this.focusRow(id);
  }

  async export(id: string): Promise<void> {
    const title = this.titleOf(id);
    await this.attempt(async () => {
      const conversation = await this.newest(id);
      const { fileNameOf, saveConversations } = await libraryParts();
      if (conversation) saveConversations(fileNameOf(title), [conversation]);
    });
  }

  openMenu(id: string, button: HTMLElement): void {
    this.stop = id;
    void this.menu.open(id, button);
  }

  async exportMarkdown(id: string): Promise<void> {
    await this.attempt(async () => {
      const conversation = await this.newest(id);
      const { fileNameOf, saveMarkdown, toMarkdown } = await libraryParts();
      if (conversation) saveMarkdown(fileNameOf(this.titleOf(id)), toMarkdown(conversation, language()));
    });
  }

  async copyMarkdown(id: string): Promise<void> {
    const text = pageWords().library;
    await this.attempt(async () => {
      const conversation = await this.newest(id);
      if (!conversation) return;
      const { toMarkdown } = await libraryParts();
      try {
        await navigator.clipboard.writeText(toMarkdown(conversation, language()));
        this.note.say(text.copied(this.titleOf(id)), false);
      } catch {
        this.note.say(text.notCopied, true);
      }
    });
  }

  async delete(id: string): Promise<void> {
    const ids = this.shownIds();
    const title = this.titleOf(id);
    await this.keeper.flush();
    const refused = this.keeper.newer.get(id);
    this.keeper.forget(id);
    let removed = await this.store.remove(id);
    // What storage has never taken is here alone.
    if (!removed && refused && (await this.store.load(id).catch(() => refused)) === null) removed = refused;
    if (!removed) {
      this.keeper.remember(id);
      if (refused) this.keeper.keep(refused);
      return this.refresh();
    }
    const wasCurrent = id === this.current; // another may have been opened meanwhile
    if (wasCurrent) this.fire('vivace-new-conversation', 'deleted');
    await this.refresh();
    this.note.say(pageWords().library.deleted(title), false, () => this.undo(refused ?? removed, wasCurrent));
    await this.focusRow(neighborOf(ids, id));
  }

  override render() {
    const text = pageWords().library;
    const isEmpty = this.summaries?.length === 0;
    return html`
      <button class="button fresh" data-testid="library-new" @click=${this.startNew}>
        ${icons.fresh}${text.fresh}
      </button>
      ${this.finder.renderField()}
      <nav class="list" aria-label=${text.label} @focusin=${this.onFocus}>
        ${this.finder.isOn ? this.finder.renderResults() : this.renderList()}
      </nav>
      ${this.menu.render()}
      ${this.note.render(() => this.dismiss())}
      <footer>
        <button class="link" data-testid="library-export-all" ?disabled=${isEmpty} @click=${this.exportAll}>${text.exportAll}</button>
        <button class="link" data-testid="library-import" title=${text.importTitle}
          @click=${() => this.fileInput.click()}>${text.import}</button>
        <button class="link" data-testid="library-delete-all" ?disabled=${isEmpty} @click=${this.deleteAll}>${text.deleteAll}</button>
        <input type="file" hidden accept=".json,application/json" multiple aria-label=${text.importLabel} @change=${this.onFiles} />
        ${this.summaries && !this.store.isKept ? html`<p class="kept">${text.notKept}</p>` : nothing}
      </footer>
    `;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.stopListening = this.store.onChange(() => void this.refresh());
    addEventListener('pagehide', this.onLeave);
    document.addEventListener('visibilitychange', this.onHidden);
    void this.refresh();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopListening();
    removeEventListener('pagehide', this.onLeave);
    document.removeEventListener('visibilitychange', this.onHidden);
  }

  protected override willUpdate(): void {
    const ids = this.shownIds();
    const isInUse = this.renderRoot?.querySelector('.list:focus-within');
    if (!isInUse && ids.includes(this.current)) this.stop = this.current;
    if (this.stop === null || !ids.includes(this.stop)) this.stop = ids[0] ?? null;
  }

  protected override updated(): void {
    const title = this.titleOf(this.current);
    if (title !== this.told) this.fire('vivace-title', title);
    this.told = title;
  }

  private titleOf(id: string): string {
    return this.summaries?.find((summary) => summary.id === id)?.title ?? '';
  }

  private renderList() {
    const text = pageWords().library;
    if (this.summaries?.length === 0) return html`<p class="empty">${text.none}</p>`;
    return groupByDay(this.summaries ?? []).map(
      ({ name, summaries }) => html`<h2 id=${name}>${text[name]}</h2>
        <ul aria-labelledby=${name}>${repeat(
          summaries,
          ({ id }) => id,
          (summary) => this.renderRow(summary),
        )}</ul>`,
    );
  }

  private renderRow(summary: Summary) {
    const { id } = summary;
    const renames = id === this.renamed?.id ? this.renamed.title : null;
    return renderRow(summary, { isCurrent: id === this.current, renames, isStop: id === this.stop }, this);
  }

  private async newest(id: string): Promise<Conversation | null> {
    await this.keeper.flush();
    const here = this.keeper.newer.get(id);
    if (!here) return this.store.load(id);
    // Another tab may have added to a conversation that is not stored here yet.
    const stored = await this.store.load(id).catch(() => null);
    return stored ? { ...mergeConversations(stored, here), title: stored.title } : here;
  }

  /** Does what the reader has asked for. Storage or a part of the page that fails is told in a note. */
  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch {
      this.sayUnreadable();
    }
  }

  private sayUnreadable(): void {
    this.note.say(pageWords().library.unreadable, true);
  }

  private get fileInput(): HTMLInputElement {
    return this.renderRoot.querySelector<HTMLInputElement>('input[type=file]')!;
  }

  private shownIds(): string[] {
    return (this.summaries ?? []).map(({ id }) => id);
  }

  private async refresh(): Promise<void> {
    let stored = this.summaries ?? [];
    try {
      stored = await this.store.list();
    } catch {
      this.sayUnreadable();
    }
    const ids = stored.map(({ id }) => id);
    const here = [...this.keeper.newer.values()].filter(({ id }) => !ids.includes(id));
    this.summaries = [...here.map(summarize), ...stored];
    this.finder.again();
    this.keeper.restore(ids);
  }

  /** Takes note of what the page shows. It may have been deleted here, and brought back by another tab. */
  private adopt(conversation: Conversation): void {
    this.keeper.remember(conversation.id);
    this.store.adopt(conversation);
  }

  private show(conversation: Conversation): void {
    this.adopt(conversation);
    this.fire('vivace-open-conversation', conversation);
  }

  private startNew = () => {
    this.choices++;
    this.fire('vivace-new-conversation');
  };

  private showTurn(turn: string | null): void {
    if (turn !== null) this.fire('vivace-show-turn', turn);
  }

  private fire(name: string, detail?: Conversation | string): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  private async undo(removed: Conversation, wasCurrent: boolean): Promise<void> {
    const { current } = this;
    this.dismiss();
    const conversation = this.keeper.recall(removed);
    await this.store.add(conversation);
    if (wasCurrent && current === this.current) this.show(conversation); // not over what was begun meanwhile
    await this.refresh();
    await this.focusRow(conversation.id);
  }

  private async focusRow(id: string | null): Promise<void> {
    await this.updateComplete;
    const row = id === null ? null : this.renderRoot.querySelector<HTMLElement>(`[data-id="${id}"] .title`);
    (row ?? this.renderRoot.querySelector<HTMLElement>('.fresh'))?.focus();
  }

  private dismiss(): void {
    if (this.note.dismiss()) void this.focusRow(this.stop);
  }

  private deleteAll = async () => {
    await this.keeper.flush();
    const refused = [...this.keeper.newer.values()];
    const ids = new Set([...this.shownIds(), ...refused.map(({ id }) => id)]);
    for (const id of ids) this.keeper.forget(id);
    const stored = await this.store.removeAll();
    const removed = [...new Map([...stored, ...refused].map((each) => [each.id, each])).values()];
    for (const id of ids) if (!removed.some((each) => each.id === id)) this.keeper.remember(id);
    const shown = removed.find(({ id }) => id === this.current)?.id;
    if (shown) this.fire('vivace-new-conversation', 'deleted');
    await this.refresh();
    if (removed.length === 0) return;
    const undo = () => void this.undoAll(removed, shown);
    this.note.say(pageWords().library.deletedAll(removed.length), false, undo, true);
    this.renderRoot.querySelector<HTMLElement>('.fresh')?.focus();
  };

  private async undoAll(removed: readonly Conversation[], shown: string | undefined): Promise<void> {
    const { current } = this;
    this.dismiss();
    const conversations = removed.map((each) => this.keeper.recall(each));
    await this.store.addAll(conversations);
    const back = conversations.find(({ id }) => id === shown);
    if (back && current === this.current) this.show(back);
    await this.refresh();
  }

  private exportAll = () =>
    this.attempt(async () => {
      await this.keeper.flush();
      const ids = new Set([...this.keeper.newer.keys(), ...this.shownIds()]);
      const all = await Promise.all([...ids].map((id) => this.newest(id)));
      const found = all.filter((conversation) => conversation !== null);
      (await libraryParts()).saveConversations('vivace-conversations', found);
    });

  private onFiles = async (event: Event) => {
    const input = event.target as HTMLInputElement;
    const files = [...(input.files ?? [])];
    input.value = ''; // allows choosing the same file again
    await this.import(files);
  };

  /** Adds the conversations of exported files, and reports the result in a note. */
  async import(files: readonly File[]): Promise<void> {
    this.note.dismiss(); // it would pass for the result of this import
    await this.keeper.flush();
    const parts = await libraryParts().catch(() => null);
    if (!parts)
      return this.note.say(pageWords().library.unreadableFile(files.map(({ name }) => name).join(', ')), true);
    const { text, isError } = await parts.importFiles(files, (conversations) => {
      for (const { id } of conversations) this.keeper.remember(id);
      return this.store.addAll(conversations, (done) => {
        if (done > 0) this.note.say(pageWords().library.importing(done, conversations.length), false);
      });
    });
    this.note.say(text, isError);
  }

  private onFocus = (event: Event) => {
    this.stop = rowOf(event) ?? this.stop;
  };

  private onKey = (event: KeyboardEvent) => {
    const id = rowOf(event);
    const isUndo = event.key === 'z' && (event.ctrlKey || event.metaKey) && this.note.undo;
    if (isUndo) isUndo();
    else if (id && event.key === 'F2') void this.startRename(id);
    else if (id && event.key === 'Delete' && !event.repeat)
      void this.delete(id); // then the next row has the focus
    else if (id && ['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(event.key)) this.moveFocus(id, event.key);
    else return;
    event.preventDefault();
  };

  private moveFocus(id: string, key: string): void {
    const ids = this.shownIds();
    const at = ids.indexOf(id);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: ids.length - 1 }[key] ?? at;
    void this.focusRow(ids[Math.min(Math.max(to, 0), ids.length - 1)]);
  }

  private onHidden = () => {
    if (document.visibilityState === 'hidden') void this.keeper.flush();
  };

  private onLeave = () => this.keeper.flushNow();
}

/** Id of the conversation in whose row an event began. */
function rowOf(event: Event): string | undefined {
  const isRow = (node: EventTarget): node is HTMLElement =>
    node instanceof HTMLElement && node.dataset.id !== undefined;
  return event.composedPath().find(isRow)?.dataset.id;
}

if (!customElements.get('vivace-library')) customElements.define('vivace-library', VivaceLibrary);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-library': VivaceLibrary;
  }
}
