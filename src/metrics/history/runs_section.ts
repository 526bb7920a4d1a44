// <vivace-runs>: the list of the kept runs. Fires `vivace-open-run` with the run that the reader chose,
// `vivace-name-run` with the id and the new name of one,
// `vivace-pin-run` with the id of one to compare or to part with, and `vivace-pins` with the pinned runs of an earlier
// visit.

import { html, nothing } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { EngineInfo, Roofline } from '../../engine/engine';
import { openTable } from '../../shared/key_value_table';
import { uniqueId } from '../../shared/unique_id';
import { sayError } from '../../words/error_words';
import { panelWords } from '../../words/panel_words';
import { WordedElement } from '../../words/worded_element';
import { runToJson } from '../run/export';
import { type KeptRun, runOf } from '../run/kept_run';
import { RunFileError } from '../run/run_checks';
import type { RunData } from '../run/run_data';
import { MAX_NAME, MAX_RUN_BYTES, type ReadRun, readRun } from '../run/run_parse';
import { type FileNote, importNote } from './import_note';
import { type RemovedRun, RunStore } from './run_store';
import { isSameRun, type PinLetter, type RunSummary, summarize } from './run_summary';
import { type RowActions, renderRunRow } from './runs_rows';
import { runsStyles } from './runs_styles';

/** Rows before the button that shows all. */
const FEW = 5;

/** A run and the name that it got. */
export interface NamedRun {
  id: string;
  name: string;
}

/** A pinned run and its letter. */
export interface PinnedRun {
  letter: PinLetter;
  run: RunData;
}

class VivaceRuns extends WordedElement implements RowActions {
  static override styles = runsStyles;
  static override properties = {
    remembers: { attribute: false },
    shown: {},
    rows: { state: true },
    renamed: { state: true },
    stop: { state: true },
    showsAll: { state: true },
    note: { state: true },
  };
  /** True to keep runs in this browser beyond the page. */
  declare remembers: boolean;
  /** Id of the run that the panel shows. */
  declare shown: string;
  declare rows: readonly RunSummary[];
  declare renamed: string | null;
  /** Id of the row in the Tab order. */
  declare stop: string | null;
  declare showsAll: boolean;
  declare note: string;
  private removed: RemovedRun[] = [];
  private opened: RunStore | null = null;

  constructor() {
    super();
    this.remembers = false;
    this.shown = '';
    this.rows = [];
    this.renamed = null;
    this.stop = null;
    this.showsAll = false;
    this.note = '';
  }

  private get store(): RunStore {
    this.opened ??= new RunStore(this.remembers ? openTable('vivace-runs', 'runs') : null);
    return this.opened;
  }

  /** Keeps a run that has ended, or keeps it again with more. */
  async keep(run: RunData, info: EngineInfo | null, roofline: Roofline | null, pin: PinLetter | null): Promise<void> {
    const text = runToJson(run, info, roofline);
    await this.store.keep([{ summary: summarize(run, text.length, pin), text }]);
    await this.refresh();
  }

  /** Notes in the store that a run is in the comparison, or no more. */
  async markPin(id: string, pin: PinLetter | null): Promise<void> {
    await this.store.edit(id, { pin });
    await this.refresh();
  }

  load(id: string): Promise<KeptRun | null> {
    return this.store.load(id);
  }

  /** Opens the kept run with this id, or notes that there is none. */
  async open(id: string): Promise<void> {
    const run = await this.store.load(id);
    this.say(run ? '' : panelWords().runs.gone);
    if (run) this.fire('vivace-open-run', run);
  }

  pin(id: string): void {
    this.fire('vivace-pin-run', id);
  }

  startRename(id: string): void {
    this.renamed = id;
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLInputElement>('.rename')?.select());
  }

  async rename(id: string, name: string | null, keepFocus: boolean): Promise<void> {
    if (this.renamed !== id) return; // the field loses its focus as it disappears
    this.renamed = null;
    if (name !== null) {
      const given = name.trim().slice(0, MAX_NAME);
      await this.store.edit(id, { name: given });
      this.fire('vivace-name-run', { id, name: given });
    }
    await this.refresh();
    if (keepFocus) await this.focusRow(id);
  }

  async delete(ids: readonly string[]): Promise<void> {
    const at = this.rows.findIndex(({ id }) => id === ids[0]);
    const removed = await this.store.remove(ids);
    if (removed.length > 0) this.removed = removed; // a second click removes nothing
    for (const { summary } of removed) if (summary.pin) this.fire('vivace-pin-run', summary.id);
    await this.refresh();
    this.say(panelWords().runs.deleted(this.removed.length));
    await this.focusRow((this.rows[at] ?? this.rows.at(-1))?.id ?? null);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.addEventListener('keydown', this.onKey);
    void this.begin();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.removeEventListener('keydown', this.onKey);
  }

  override render() {
    const { rows, note, removed } = this;
    const text = panelWords().runs;
    const shown = this.showsAll ? rows : rows.slice(0, FEW);
    const stop = shown.some(({ id }) => id === this.stop) ? this.stop : shown[0]?.id;
    return html`<section data-testid="runs">
      <header>
        <h3 id="title">${text.title}</h3>
        <button data-testid="import-run" title=${text.importHelp} @click=${() => this.fileInput?.click()}>${text.import}</button>
        <input type="file" multiple hidden accept=".json,application/json" aria-label=${text.importHelp} @change=${this.onFile} />
      </header>
      <div class="said">
        <p class="note" role="status" data-testid="runs-note">${note}</p>
        ${removed.length > 0 && note ? html`<button data-testid="undo-run" @click=${this.undo}>${text.undo}</button>` : nothing}
      </div>
      ${rows.length === 0 ? html`<p class="note">${text.none}</p>` : nothing}
      <ul aria-labelledby="title">${repeat(
        shown,
        ({ id }) => id,
        (row) => {
          const state = { isShown: row.id === this.shown, isRenamed: row.id === this.renamed, isStop: row.id === stop };
          return renderRunRow(row, state, this);
        },
      )}</ul>
      <footer>
        ${rows.length > FEW ? html`<button data-testid="all-runs" aria-expanded=${this.showsAll} @click=${this.toggleAll}>${this.showsAll ? text.showFew : text.showAll(rows.length)}</button>` : nothing}
        ${rows.length > 1 ? html`<button data-testid="delete-runs" @click=${() => this.delete(rows.map(({ id }) => id))}>${text.deleteAll}</button>` : nothing}
      </footer>
      ${rows.length > 0 ? html`<p class="note">${this.remembers && this.store.isKept ? text.kept : text.notKept}</p>` : nothing}
    </section>`;
  }

  /** Reads the list, and hands over the pinned runs of an earlier visit. */
  private async begin(): Promise<void> {
    await this.updateComplete; // `remembers` is set by then
    await this.refresh();
    const pins: PinnedRun[] = [];
    for (const { id, pin } of this.rows) {
      const run = pin && !pins.some(({ letter }) => letter === pin) ? await this.store.load(id) : null;
      if (run && pin) pins.push({ letter: pin, run });
    }
    if (pins.length > 0) this.fire('vivace-pins', pins);
  }

  private async refresh(): Promise<void> {
    this.rows = await this.store.list();
  }

  private say(note: string): void {
    this.note = note;
    if (note === '') this.removed = [];
  }

  private readonly undo = async () => {
    const { removed } = this;
    this.say('');
    await this.store.keep(removed.map(({ summary, text }) => ({ summary: { ...summary, pin: null }, text })));
    await this.refresh();
    await this.focusRow(removed[0]?.summary.id ?? null);
  };

  private readonly toggleAll = () => {
    this.showsAll = !this.showsAll;
  };

  private get fileInput(): HTMLInputElement | null {
    return this.renderRoot.querySelector('input[type=file]');
  }

  private readonly onFile = async () => {
    const input = this.fileInput;
    const files = [...(input?.files ?? [])];
    if (input) input.value = ''; // allows choosing the same file again
    await this.import(files);
  };

  /** Keeps and opens the runs of exported files, and notes which ones cannot be read, and why. */
  async import(files: readonly File[]): Promise<void> {
    this.say('');
    const notes: FileNote[] = [];
    for (const file of files) {
      const why = await this.importFile(file);
      if (why !== '') notes.push({ name: file.name, why });
    }
    this.say(importNote(notes, files.length));
  }

  /** Returns what there is to say about the file, or ''. */
  private async importFile(file: File): Promise<string> {
    try {
      if (file.size > MAX_RUN_BYTES) throw new RunFileError(panelWords().runs.tooLarge, 'run-size');
      return (await this.take(readRun(await file.text()))) ? '' : panelWords().runs.known;
    } catch (error) {
      return error instanceof RunFileError ? sayError(error).text : panelWords().runs.unreadable;
    }
  }

  /** Keeps and opens the run of a file. False: it shows where the run is in the list already. */
  private async take(document: ReadRun): Promise<boolean> {
    const told = runOf(document);
    const { rows } = this;
    const at = rows.findIndex((row) => isSameRun(row, summarize(told, 0, null)));
    if (at >= 0) {
      this.showsAll ||= at >= FEW;
      await this.focusRow(rows[at]!.id);
      return false;
    }
    // A file may claim the id of another run.
    const run = rows.some(({ id }) => id === document.id) ? runOf({ ...document, id: uniqueId() }) : told;
    await this.keep(run, null, document.roofline, null);
    this.fire('vivace-open-run', run);
    return true;
  }

  private readonly onKey = (event: KeyboardEvent) => {
    const row = event.composedPath().find((node) => node instanceof HTMLElement && node.dataset.id !== undefined);
    const id = (row as HTMLElement | undefined)?.dataset.id;
    const isUndo = event.key === 'z' && (event.ctrlKey || event.metaKey) && this.removed.length > 0;
    if (isUndo) void this.undo();
    else if (!id || event.target instanceof HTMLInputElement) return;
    else if (event.key === 'F2') this.startRename(id);
    else if (event.key === 'Delete' && !event.repeat) void this.delete([id]);
    else if (['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(event.key)) this.moveFocus(id, event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  private moveFocus(id: string, key: string): void {
    const ids = (this.showsAll ? this.rows : this.rows.slice(0, FEW)).map((row) => row.id);
    const at = ids.indexOf(id);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: ids.length - 1 }[key] ?? at;
    void this.focusRow(ids[Math.min(Math.max(to, 0), ids.length - 1)] ?? null);
  }

  private async focusRow(id: string | null): Promise<void> {
    this.stop = id;
    await this.updateComplete;
    const open = id === null ? null : this.renderRoot.querySelector<HTMLElement>(`[data-id="${id}"] .open`);
    (open ?? this.renderRoot.querySelector<HTMLElement>('header button'))?.focus();
  }

  private fire(name: string, detail: string | NamedRun | KeptRun | readonly PinnedRun[]): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

if (!customElements.get('vivace-runs')) customElements.define('vivace-runs', VivaceRuns);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-runs': VivaceRuns;
  }
}
