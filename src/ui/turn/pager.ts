// The pager of versions: ‹ 2/3 ›

import { css, html, nothing } from 'lit';
import { words } from '../../words/words';
import type { Version, VersionOf } from '../conversation/versions';

/** Nothing where there is one version only. */
export function renderPager(of: VersionOf, { place, places }: Version, onStep: (by: 1 | -1) => void) {
  if (places < 2) return nothing;
  const text = words().pager;
  const button = (by: 1 | -1, label: string, sign: string, isEnd: boolean) =>
    html`<button class="icon small" data-testid=${by < 0 ? 'version-before' : 'version-after'} title=${label} aria-label=${label}
      aria-disabled=${isEnd} @click=${() => isEnd || onStep(by)}>${sign}</button>`;
  return html`<span class="pager" data-of=${of} role="group" aria-label=${text[of]}>
    ${button(-1, text.before, '‹', place === 0)}
    <span data-testid="version" aria-label=${text.version(place + 1, places)} role="img">${place + 1}/${places}</span>
    ${button(1, text.after, '›', place === places - 1)}
  </span>`;
}

/** Puts the focus on the pager's button of the version before (-1) or after (1). */
export function focusPager(root: ParentNode, of: VersionOf, by: 1 | -1): void {
  root.querySelector<HTMLElement>(`[data-of=${of}] [data-testid=version-${by < 0 ? 'before' : 'after'}]`)?.focus();
}

export const pagerStyles = css`
  .pager { display: inline-flex; align-items: center; margin-inline-end: 2px; color: var(--v-muted); font-size: var(--v-size-small); font-variant-numeric: tabular-nums; }
  .pager .icon { width: 24px; font-size: var(--v-size-reading); line-height: 1; }
`;
