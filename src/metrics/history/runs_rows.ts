// The markup of one row in the list of runs.

import { html, nothing } from 'lit';
import { language } from '../../words/language';
import { panelWords } from '../../words/panel_words';
import { icons } from '../shared/icons';
import { figureParts, type RunSummary, whatParts } from './run_summary';

export interface RowActions {
  open(id: string): void;
  pin(id: string): void;
  startRename(id: string): void;
  /** @param name null: leave it */
  rename(id: string, name: string | null, keepFocus: boolean): void;
  delete(ids: readonly string[]): void;
}

interface RowState {
  isShown: boolean;
  isRenamed: boolean;
  /** The one row in the Tab order. Arrow keys lead to the others. */
  isStop: boolean;
}

/** The moment of a run in the reader's language: 'Nov 23, 8:24:56 AM', with the year of another year. */
export function formatMoment(ms: number, now = Date.now()): string {
  const date = new Date(ms);
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  const year = isThisYear ? undefined : 'numeric';
  const day = { year, month: 'short', day: 'numeric' } as const;
  return date.toLocaleString(language(), { ...day, hour: 'numeric', minute: '2-digit', second: '2-digit' });
}

export function renderRunRow(row: RunSummary, state: RowState, actions: RowActions) {
  const { id, name, startedAt, pin } = row;
  const text = panelWords().runs;
  const title = name || formatMoment(startedAt);
  if (state.isRenamed) return renderRename(row, actions);
  const tabindex = state.isStop ? 0 : -1;
  const button = (test: string, label: string, sign: unknown, act: () => void, pressed?: boolean) =>
    html`<button data-testid=${test} tabindex=${tabindex} title=${label} aria-label=${`${label}: ${title}`}
      aria-pressed=${pressed ?? nothing} @click=${act}>${sign}</button>`;
  return html`<li class=${state.isShown ? 'shown' : ''} data-id=${id} data-testid="run-row">
    <button class="open" data-testid="open-run" tabindex=${tabindex} aria-keyshortcuts="F2 Delete"
      aria-current=${state.isShown ? 'true' : nothing} @click=${() => actions.open(id)}>
      <b dir="auto">${title}</b>
      ${renderParts('figures', figureParts(row))}
      ${renderParts('what', [...(name ? [formatMoment(startedAt)] : []), ...whatParts(row, text)])}
    </button>
    <span class="actions">
      ${button('pin-run', pin ? text.unpin : text.pin, pin ? pin.toUpperCase() : icons.pin, () => actions.pin(id), pin !== null)}
      ${button('rename-run', text.rename, icons.edit, () => actions.startRename(id))}
      ${button('delete-run', text.delete, icons.remove, () => actions.delete([id]))}
    </span>
  </li>`;
}

/** Parts in a line, which breaks between them only. */
function renderParts(kind: string, parts: readonly string[]) {
  const last = parts.length - 1;
  const line = parts.map(
    (part, i) => html`<span dir="auto">${part}${i < last ? ' ·' : ''}</span>${i < last ? ' ' : ''}`,
  );
  return html`<small class=${kind}>${line}</small>`;
}

function renderRename({ id, name, startedAt }: RunSummary, actions: RowActions) {
  const text = panelWords().runs;
  const typedIn = (event: Event) => (event.target as HTMLInputElement).value;
  const onKey = (event: KeyboardEvent) => {
    event.stopPropagation(); // letters are no shortcuts here
    if (event.isComposing) return;
    if (event.key === 'Enter') actions.rename(id, typedIn(event), true);
    if (event.key === 'Escape') actions.rename(id, null, true);
  };
  return html`<li data-id=${id} data-testid="run-row">
    <input class="rename" data-testid="run-name" dir="auto" maxlength="200" aria-label=${text.nameLabel} .value=${name}
      placeholder=${formatMoment(startedAt)} @keydown=${onKey} @blur=${(event: Event) => actions.rename(id, typedIn(event), false)} />
  </li>`;
}
