// The error's own sentence, folded below the one in the reader's language.

import { html, nothing } from 'lit';
import { words } from '../../words/words';
import type { Advice } from './advice';

export function renderDetail({ detail }: Pick<Advice, 'detail'>) {
  if (!detail) return nothing;
  return html`<details class="detail" data-testid="advice-detail">
    <summary>${words().advice.details}</summary>
    <p lang="en" dir="auto">${detail}</p>
  </details>`;
}
