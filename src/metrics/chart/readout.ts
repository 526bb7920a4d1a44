// The readout of one token: the gap before it, its place, its text, and its times by stage; and the list of stalls.
// Pure.

import { html, nothing } from 'lit';
import { panelWords } from '../../words/panel_words';
import { gpuMsOf, isOfServer, placeOf, type RunData, type Stall } from '../run/run_data';
import { formatMs } from '../shared/figure_format';

const MOST_LETTERS = 40;
/** The longest stalls, which have buttons. */
const MOST_STALLS = 100;

interface TokenReadout {
  gap: string;
  /** The place of the gap: 'before token 57, position 112', and who computed the token where that may be a server. */
  where: string;
  text: string;
  stages: { label: string; value: string; definition: string }[];
  /** The cause of the token's stall, or ''. */
  stall: string;
}

/** The text as in JSON, cut. Characters that are invisible or change the direction of the line become their numbers. */
function quoteText(text: string): string {
  // Reads only as much as can be shown: the text of a token may have any length.
  const letters = [...JSON.stringify(text.slice(0, 2 * MOST_LETTERS))].map((letter) =>
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(letter) ? `\\u{${letter.codePointAt(0)!.toString(16)}}` : letter,
  );
  return letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS).join('')}…` : letters.join('');
}

/** The readout of the gap at `index`, or null without such a gap. */
export function describeToken(run: RunData, index: number, stalls: readonly Stall[]): TokenReadout | null {
  const number = run.tokenNumbers[index];
  const token = number === undefined ? undefined : run.tokens[number - 1];
  if (number === undefined || !token) return null;
  const texts = panelWords().readout;
  const stage = (name: keyof typeof texts.stages, ms: number | null) => ({
    label: texts.stages[name],
    value: formatMs(ms),
    definition: texts.stageHelp[name],
  });
  return {
    gap: formatMs(run.gaps[index]),
    where: isOfServer(run)
      ? `${texts.where(number, token.position)}, ${panelWords().chart.places[placeOf(run, number - 1)]}`
      : texts.where(number, token.position),
    text: quoteText(token.text),
    stages: [
      stage('inFlight', token.inFlightMs),
      stage('gpu', gpuMsOf(run, number - 1)),
      stage('worker', token.workerMs),
      stage('page', token.receivedMs),
      stage('paint', token.paintedMs),
    ],
    stall: stalls.find((each) => each.token === number)?.sentence ?? '',
  };
}

/** The readout as one sentence, for screen readers. */
export function spokenToken({ gap, where, text, stages, stall }: TokenReadout): string {
  const times = stages.map(({ label, value }) => `${label} ${value}`).join(', ');
  return [`${gap} ${where}, ${text}; ${times}.`, stall].filter(Boolean).join(' ');
}

/** All stalls, longest first. */
export function longestFirst(stalls: readonly Stall[]): Stall[] {
  return [...stalls].sort((a, b) => b.gapMs - a.gapMs);
}

/** Stalls with the same cause in words together, in the order of their first: one sentence for all of them. */
export function bySentence(stalls: readonly Stall[]): Stall[][] {
  const groups = new Map<string, Stall[]>();
  for (const stall of stalls) groups.set(stall.sentence, [...(groups.get(stall.sentence) ?? []), stall]);
  return [...groups.values()];
}

export function renderReadout({ gap, where, text, stages, stall }: TokenReadout) {
  return html`<p class="line"><b>${gap}</b> ${where}, <code dir="ltr">${text}</code></p>
    <dl class="stages">${stages.map(({ label, value, definition }) => html`<div title=${definition}><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
    ${stall ? html`<p class="line stalled">${stall}</p>` : nothing}`;
}

/** The list of the longest stalls. @param onGo takes the stall that the reader chose */
export function renderStalls(stalls: readonly Stall[], onGo: (stall: Stall) => void) {
  if (stalls.length === 0) return nothing;
  const texts = panelWords().readout;
  return html`<section class="stalls" data-testid="stalls">
    <h3 title=${texts.stallsHelp}>${texts.stalls(stalls.length)}</h3>
    <ul>${bySentence(longestFirst(stalls).slice(0, MOST_STALLS)).map((same) => html`<li>${same.map((stall) => html`<button @click=${() => onGo(stall)}><b>${formatMs(stall.gapMs)}</b> ${texts.beforeToken(stall.token)}</button> `)}${same.length > 1 ? html`<br />` : nothing}${same[0]?.sentence}</li>`)}${stalls.length > MOST_STALLS ? html`<li>…</li>` : nothing}</ul>
  </section>`;
}
