// <vivace-bench>: the card of a named measurement. It waits for the model that the page loads and for a press of its
// button, since a link must not use somebody's battery by itself. Questions to the chat wait meanwhile.

import { html, LitElement, nothing } from 'lit';
import { type ChatEngine, type Engine, engineHere } from '../../engine/engine';
import { saveText } from '../../shared/save_text';
import { benchWords } from '../../words/bench_words';
import { sayError } from '../../words/error_words';
import { onLanguage } from '../../words/language';
import { panelWords } from '../../words/panel_words';
import { measure } from '../repeat/measure';
import { figureRows } from '../repeat/measured_figures';
import { originHere } from '../run/run_origin';
import { type BenchReport, benchReport, benchText, machineLines } from './bench_report';
import { benchStyles } from './bench_styles';
import { findMeasurement, MEASUREMENTS, type NamedMeasurement, PROMPT_TEXT, promptOf } from './named_measurements';

/** The page's chat as the card knows it: who has the engine, and makes questions wait. */
interface Chat extends HTMLElement {
  engine: ChatEngine | null;
  tuning: { done: number; total: number; isRepeat: boolean } | null;
}

type State =
  | { kind: 'idle' }
  | { kind: 'running'; abort: AbortController; done: number; total: number }
  | { kind: 'failed'; message: string }
  | { kind: 'done'; report: BenchReport };

class VivaceBench extends LitElement {
  static override styles = benchStyles;
  static override properties = { engine: { state: true }, state: { state: true }, said: { state: true } };
  declare engine: Engine | null;
  declare state: State;
  /** The text about a copy for screen readers. */
  declare said: string;

  private readonly asked = new URLSearchParams(location.search).get('bench') ?? '';
  private readonly measurement: NamedMeasurement | null = findMeasurement(this.asked);
  private readonly chat = document.querySelector<Chat>('vivace-chat');
  private left = new AbortController();

  constructor() {
    super();
    this.engine = null;
    this.state = { kind: 'idle' };
    this.said = '';
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.left = new AbortController();
    const { signal } = this.left;
    const follow = () => {
      const engine = engineHere(this.chat?.engine ?? null);
      if (engine !== this.engine && this.state.kind === 'running') this.state.abort.abort();
      this.engine = engine;
    };
    this.chat?.addEventListener('vivace-engine', follow, { signal });
    this.chat?.addEventListener('vivace-cancel-tuning', () => this.cancel(), { signal });
    signal.addEventListener(
      'abort',
      onLanguage(() => this.requestUpdate()),
    );
    follow();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.left.abort();
    this.cancel();
  }

  override render() {
    const { measurement, asked } = this;
    const texts = benchWords();
    return html`<section role="dialog" aria-labelledby="title" data-testid="bench" data-state=${measurement ? this.state.kind : 'unknown'}>
      <button class="close" aria-label=${texts.close} title=${texts.close} @click=${this.close}>×</button>
      <h2 id="title">${texts.title(measurement?.name ?? asked.slice(0, 40))}</h2>
      ${measurement ? html`<p class="what">${texts.what(measurement)}</p>${this.renderState(measurement)}` : renderNames()}
      <p class="said" role="status">${this.said}</p>
    </section>`;
  }

  private renderState(measurement: NamedMeasurement) {
    const { state, engine } = this;
    const texts = benchWords();
    if (state.kind === 'done') return this.renderReport(state.report);
    if (state.kind === 'running') {
      const { done, total } = state;
      return html`<div class="row">
        <progress max=${total} .value=${done} aria-label=${texts.title(measurement.name)}></progress>
        <span>${panelWords().repeat.count(Math.min(done + 1, total), total)}</span>
        <button data-testid="cancel-bench" @click=${this.cancel}>${panelWords().repeat.cancel}</button>
      </div>`;
    }
    return html`
      ${state.kind === 'failed' ? html`<p class="failed" role="alert">${state.message}</p>` : nothing}
      ${engine ? html`<p>${engine.info.model.name} · ${engine.info.adapter ?? engine.info.backend}</p>` : nothing}
      <div class="row">
        <button class="primary" data-testid="run-bench" ?disabled=${!engine} @click=${this.run}>${texts.run}</button>
        <span>${engine ? texts.asks(engine.info.backend === 'webgpu') : texts.loading}</span>
      </div>`;
  }

  private renderReport(report: BenchReport) {
    const texts = benchWords();
    const { figures, figureHelp } = panelWords().repeat;
    return html`
      <dl>${figureRows([report.samples]).map(
        ({ key, cells: [cell] }) => html`<div title=${figureHelp[key]} data-figure=${key}><dt>${figures[key]}</dt>
          <dd>${cell?.median} <small>${cell?.range}</small></dd></div>`,
      )}</dl>
      <p class="machine">${machineLines(report).map((line) => html`${line}<br />`)}</p>
      <p class="what">${texts.range}</p>
      <div class="row">
        <button data-testid="copy-link" @click=${() => this.copy(report.link)}>${texts.copyLink}</button>
        <button data-testid="copy-text" @click=${() => this.copy(benchText(report, figures))}>${texts.copyText}</button>
        <button data-testid="save-bench" @click=${() => saveText(`vivace-${report.name}.json`, 'application/json', JSON.stringify(report, null, 2))}>${texts.save}</button>
        <button data-testid="run-bench" ?disabled=${!this.engine} @click=${this.run}>${texts.again}</button>
      </div>`;
  }

  private readonly run = async () => {
    const { engine, measurement } = this;
    if (!engine || !measurement || this.state.kind === 'running') return;
    const { promptTokens, tokens, times } = measurement;
    const texts = benchWords();
    const abort = new AbortController();
    try {
      if (promptTokens + tokens > engine.info.contextLength)
        throw new Error(texts.tooLong(promptTokens + tokens, engine.info.contextLength));
      this.move({ kind: 'running', abort, done: 0, total: times });
      const origin = originHere();
      const ids = await engine.tokenize(PROMPT_TEXT);
      const [samples = []] = await measure({
        ...{ engine, tokens, times, settings: [{ temperature: 0 }], signal: abort.signal },
        promptIds: promptOf(ids, promptTokens),
        onProgress: (done, total) => this.move({ kind: 'running', abort, done, total }),
      });
      const report = benchReport({ measurement, info: engine.info, origin, link: location.href, samples });
      this.move({ kind: 'done', report });
      this.said = texts.done;
    } catch (error) {
      const message = sayError(error).text || panelWords().repeat.failed;
      this.move(abort.signal.aborted ? { kind: 'idle' } : { kind: 'failed', message });
    }
  };

  private move(state: State): void {
    this.state = state;
    this.said = '';
    if (!this.chat) return;
    this.chat.tuning = state.kind === 'running' ? { done: state.done, total: state.total, isRepeat: true } : null;
  }

  private readonly cancel = () => {
    if (this.state.kind === 'running') this.state.abort.abort();
  };

  private async copy(text: string): Promise<void> {
    const texts = benchWords();
    try {
      await navigator.clipboard.writeText(text); // there is no clipboard in a page without https
      this.said = texts.copied;
    } catch {
      this.said = texts.notCopied;
    }
  }

  private readonly close = () => this.remove();
}

function renderNames() {
  const texts = benchWords();
  const link = (name: string) => {
    const query = new URLSearchParams(location.search);
    query.set('bench', name);
    return `?${query}`;
  };
  return html`<p>${texts.unknown}</p>
    <ul>${MEASUREMENTS.map((each) => html`<li><a href=${link(each.name)}>${each.name}</a> ${texts.what(each)}</li>`)}</ul>`;
}

customElements.define('vivace-bench', VivaceBench);
document.body.append(document.createElement('vivace-bench'));
