// The rows of the list of conversations: their groups by day, and the markup of one row.

import { html, nothing } from 'lit';
import { pageWords } from '../../words/page_words';
import type { Summary } from '../conversation/conversation_index';
import { MAX_OWN_TITLE } from '../conversation/conversation_tree';
import { icons } from '../shared/icons';
import { isComposing } from '../shared/input_method';

export interface Group {
  name: 'today' | 'yesterday' | 'earlier';
  summaries: Summary[];
}

/** Groups by day, divided at the reader's midnight. Empty groups are left out. */
export function groupByDay(summaries: readonly Summary[], now = new Date()): Group[] {
  const daysAgo = (n: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - n).getTime();
  const nameOf = ({ updatedAt }: Summary): Group['name'] => {
    if (updatedAt >= daysAgo(0)) return 'today';
    return updatedAt >= daysAgo(1) ? 'yesterday' : 'earlier';
  };
  const groups: Group[] = [];
  for (const name of ['today', 'yesterday', 'earlier'] as const) {
    const found = summaries.filter((summary) => nameOf(summary) === name);
    if (found.length > 0) groups.push({ name, summaries: found });
  }
  return groups;
}

/** The row to focus after a deletion: the next one, or else the previous one. */
export function neighborOf(ids: readonly string[], id: string): string | null {
  const at = ids.indexOf(id);
  return ids[at + 1] ?? ids[at - 1] ?? null;
}

export interface RowActions {
  open(id: string): void;
  startRename(id: string): void;
  rename(id: string, title: string, keepFocus?: boolean): void;
  cancelRename(id: string): void;
  openMenu(id: string, button: HTMLElement): void;
  export(id: string): void;
  exportMarkdown(id: string): void;
  copyMarkdown(id: string): void;
  delete(id: string): void;
}

interface RowState {
  isCurrent: boolean;
  /** The title that the field of a rename begins with, or null. */
  renames: string | null;
  /** The one row in the Tab order. Arrow keys lead to the others. */
  isStop: boolean;
}

export function renderRow(summary: Summary, state: RowState, actions: RowActions) {
  const { id, title } = summary;
  if (state.renames !== null) return renderRename(id, state.renames, actions);
  const tabindex = state.isStop ? 0 : -1;
  const text = pageWords().library;
  return html`<li class=${state.isCurrent ? 'row current' : 'row'} data-id=${id} data-testid="library-row">
    <button class="title" data-testid="library-open" tabindex=${tabindex} title=${title} dir="auto" aria-keyshortcuts="F2 Delete"
      aria-current=${state.isCurrent ? 'true' : nothing} @click=${() => actions.open(id)}><span>${title}</span></button>
    <span class="actions">
      <button class="icon small" data-testid="library-more" tabindex=${tabindex} title=${text.actions} aria-label=${text.actionsOf(title)}
        aria-haspopup="menu" @click=${(event: Event) => actions.openMenu(id, event.currentTarget as HTMLElement)}>${icons.more}</button>
    </span>
  </li>`;
}

function renderRename(id: string, title: string, actions: RowActions) {
  const onKey = (event: KeyboardEvent) => {
    event.stopPropagation(); // letters are no shortcuts here
    if (isComposing(event)) return;
    if (event.key === 'Enter') {
      event.preventDefault(); // the row that takes the focus would hear the key, and open its conversation
      actions.rename(id, (event.target as HTMLInputElement).value, true);
    }
    if (event.key === 'Escape') actions.cancelRename(id);
  };
  const onBlur = (event: Event) => actions.rename(id, (event.target as HTMLInputElement).value);
  return html`<li class="row" data-id=${id} data-testid="library-row">
    <input class="rename" data-testid="library-title" dir="auto" maxlength=${MAX_OWN_TITLE} aria-label=${pageWords().library.title} .value=${title}
      @keydown=${onKey} @blur=${onBlur} />
  </li>`;
}
