// <vivace-server>: the part of the dialog of models that takes a server: its address, its key, its model, and who
// answers when. Fires `vivace-connect` with what was typed, and `vivace-disconnect`.

import { css, html, nothing, type PropertyValues } from 'lit';
import { RemoteError } from '../../remote/remote_engine';
import { codeOf } from '../shared/advice';
import { sharedStyles } from '../shared/shared_styles';
import { hostOf, mayHoldSecret, readServer, type ServerChoice, type ServerRule } from './server_choice';
import type { ServerState } from './server_session';
import { SpokenElement, say } from './tongue';

/** The address of llama.cpp's server where it starts by default. */
const EXAMPLE = 'http://localhost:8080/v1';

/** Detail of `vivace-connect`. */
export interface TypedServer {
  choice: ServerChoice;
  key: string;
  keepsKey: boolean;
}

/** The text of a failure, and the next step for the reader. */
export interface ServerTrouble {
  what: string;
  next: string;
  /** The details, or ''. */
  detail: string;
}

/** Most models in the list. */
const MAX_MODELS = 500;
const STANDARD_TOKENS = 4096;

export class VivaceServer extends SpokenElement {
  static override styles = [
    sharedStyles,
    css`
      :host { display: block; padding-block: 16px; border-top: 1px solid var(--v-line); }
      h3 { margin: 0 0 6px; font-size: var(--v-size); font-weight: 600; }
      form { display: grid; gap: 12px; margin-top: 12px; }
      label { display: block; font-weight: 600; }
      .field { display: grid; gap: 6px; align-content: start; min-width: 0; }
      #title:focus { outline: none; }
      [role='status'], .trouble { margin-top: 8px; }
      [role='status']:empty { display: none; }
      .pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr)); gap: 12px; }
      input:not([type='checkbox']), select {
        width: 100%; min-width: 0; padding: 8px 11px; border: 1px solid var(--v-line); border-radius: 9px; background: var(--v-bg); color: inherit;
        font: 400 var(--v-size) / 1.3 var(--v-font);
      }
      input[type='text'] { font-family: var(--v-mono); }
      @media (pointer: coarse) { input:not([type='checkbox']), select { min-height: 44px; } }
      input[aria-invalid='true'] { border-color: var(--v-danger); }
      .check { display: flex; align-items: start; gap: 8px; font-weight: 400; }
      p { margin: 0; overflow-wrap: anywhere; }
      .help { color: var(--v-muted); font-size: var(--v-size-small); }
      .help[role='alert'] { color: var(--v-danger); }
      .trouble { border-inline-start: 3px solid var(--v-danger); padding-inline-start: 12px; }
      .row { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
    `,
  ];
  static override properties = {
    state: { attribute: false },
    trouble: { attribute: false },
    complaint: { state: true },
    rule: { state: true },
    hasKey: { state: true },
  };
  declare state: ServerState;
  declare trouble: ServerTrouble | null;
  declare private complaint: string;
  declare private rule: 'remote' | 'remote-until-loaded' | 'longer';
  declare private hasKey: boolean;
  private last: ServerChoice | null = null;

  constructor() {
    super();
    this.state = { kind: 'off' };
    this.trouble = null;
    this.complaint = '';
    this.rule = 'remote';
    this.hasKey = false;
  }

  /** Fills the fields. @param keepsKey whether this browser keeps the key */
  fill(choice: ServerChoice, key: string, keepsKey: boolean): void {
    this.last = choice;
    this.rule = typeof choice.rule === 'object' ? 'longer' : choice.rule;
    this.hasKey = key !== '';
    void this.updateComplete.then(() => {
      this.input('address').value = choice.address;
      this.input('key').value = key;
      this.input('remember').checked = keepsKey;
    });
  }

  override focus(): void {
    this.input('address').focus();
  }

  /** A refused key is mended in its field. */
  protected override updated(changed: PropertyValues<this>): void {
    const { state } = this;
    if (!changed.has('state')) return;
    if (state.kind === 'failed' && codeOf(state.error) === 'server-key' && this.matches(':focus-within'))
      this.input('key').focus();
  }

  override render() {
    const text = say();
    const { state } = this;
    return html`<section aria-labelledby="title" data-testid="server">
      <h3 id="title" tabindex="-1">${text.title}</h3>
      <p class="help">${text.help}</p>
      ${this.renderState()}
      <form @submit=${this.connect} novalidate>
        <div class="field">
          <label for="address">${text.address}</label>
          <input id="address" data-testid="server-address" type="text" inputmode="url" dir="ltr" autocomplete="off" autocapitalize="off" spellcheck="false"
            placeholder=${EXAMPLE} aria-invalid=${this.complaint !== ''} aria-describedby="complaint" />
          <p id="complaint" class="help" role=${this.complaint ? 'alert' : nothing} data-testid="server-complaint" ?hidden=${!this.complaint}>${this.complaint}</p>
        </div>
        <div class="pair">${this.renderKey()} ${this.renderModel()}</div>
        ${this.renderRule()}
        <div class="row">
          <button class="button primary" data-testid="connect">${state.kind === 'ready' ? text.apply : text.connect}</button>
          ${state.kind === 'ready' ? html`<button class="button" type="button" data-testid="disconnect" @click=${this.disconnect}>${text.disconnect}</button>` : nothing}
          ${state.kind === 'connecting' ? html`<button class="button" type="button" data-testid="cancel-connect" @click=${this.disconnect}>${text.cancel}</button>` : nothing}
        </div>
      </form>
    </section>`;
  }

  private renderState() {
    const text = say();
    const { state, trouble } = this;
    if (trouble && state.kind === 'failed')
      return html`<div class="trouble" role="alert" data-testid="server-trouble" dir="auto"><p><strong>${trouble.what}</strong></p><p>${trouble.next}</p>${trouble.detail ? html`<p class="help">${trouble.detail}</p>` : nothing}</div>`;
    let line = '';
    if (state.kind === 'connecting') line = text.connecting(hostOf(state.choice));
    if (state.kind === 'refused') line = text.refused(hostOf(state.choice));
    if (state.kind === 'ready') line = text.connected(hostOf(state.choice), state.engine.info.model.name);
    return html`<p role="status" data-testid="server-state" data-state=${state.kind} dir="auto">${line}</p>`;
  }

  private renderKey() {
    const text = say();
    return html`<div class="field">
      <label for="key">${text.key}</label>
      <input id="key" data-testid="server-key" type="password" autocomplete="off" spellcheck="false" @input=${this.onKey} />
      <label class="check" title=${text.rememberHelp} ?hidden=${!this.hasKey}><input id="remember" data-testid="remember-key" type="checkbox" aria-describedby="remember-help" />${text.remember}</label>
      <p id="remember-help" class="help" ?hidden=${!this.hasKey}>${text.rememberHelp}</p>
    </div>`;
  }

  private renderModel() {
    const text = say();
    const { state } = this;
    const chosen = state.kind === 'ready' ? state.engine.info.model.name : (this.last?.model ?? '');
    const models = listedBy(state).slice(0, MAX_MODELS);
    const isThere = state.kind === 'ready' || models.length === 0; // a server that answered lacks the other one
    const names = [...new Set(isThere ? [chosen, ...models] : models)].filter(Boolean);
    return html`<div class="field">
      <label for="far-model">${text.model}</label>
      <select id="far-model" data-testid="server-model" ?disabled=${names.length === 0}>
        ${models.length === 0 ? html`<option value="">${text.firstModel}</option>` : nothing}
        ${names.map((name) => html`<option value=${name} .selected=${name === chosen}>${name}</option>`)}
      </select>
    </div>`;
  }

  private renderRule() {
    const { rules, who, tokens } = say();
    const option = (value: typeof this.rule, label: string) =>
      html`<option value=${value} .selected=${this.rule === value}>${label}</option>`;
    const asked = typeof this.last?.rule === 'object' ? this.last.rule.longerThan : STANDARD_TOKENS;
    return html`<div class="pair">
      <div class="field">
        <label for="rule">${who}</label>
        <select id="rule" data-testid="server-rule" @change=${this.onRule}>
          ${option('remote', rules.remote)} ${option('remote-until-loaded', rules.loaded)} ${option('longer', rules.longer)}
        </select>
      </div>
      ${this.rule === 'longer' ? html`<div class="field"><label for="tokens">${tokens}</label><input id="tokens" data-testid="server-tokens" type="number" min="0" step="1" .value=${String(asked)} /></div>` : nothing}
    </div>`;
  }

  private onKey = () => {
    this.hasKey = this.input('key').value !== '';
  };

  private onRule = (event: Event) => {
    this.rule = (event.target as HTMLSelectElement).value as typeof this.rule;
  };

  private connect = (event: Event) => {
    event.preventDefault();
    const text = say();
    const rule = this.readRule();
    if (rule === null) return this.complain(text.badRule, 'tokens');
    const server = this.input('address').value.trim();
    const known = this.last?.address;
    try {
      const choice = readServer({ server: spelledOut(server), model: null, rule: null });
      if (!choice) return this.complain(text.noAddress, 'address');
      const model =
        choice.address === known ? this.renderRoot.querySelector<HTMLSelectElement>('#far-model')!.value : '';
      this.complaint = '';
      this.last = { ...choice, rule, model: model || null };
      const detail: TypedServer = {
        choice: this.last,
        key: this.input('key').value,
        keepsKey: this.input('remember').checked,
      };
      this.dispatchEvent(new CustomEvent('vivace-connect', { detail, bubbles: true, composed: true }));
    } catch {
      this.complain(mayHoldSecret(server) ? text.holdsSecret : text.noAddress, 'address');
    }
  };

  private readRule(): ServerRule | null {
    if (this.rule !== 'longer') return this.rule;
    const text = this.input('tokens').value;
    return /^\d{1,9}$/.test(text) ? { longerThan: Number(text) } : null;
  }

  private complain(sentence: string, field: string): void {
    this.complaint = sentence;
    this.input(field).focus();
  }

  private input(id: string): HTMLInputElement {
    return this.renderRoot.querySelector<HTMLInputElement>(`#${id}`)!;
  }

  private disconnect = () => {
    this.focus(); // the button goes
    this.dispatchEvent(new CustomEvent('vivace-disconnect', { bubbles: true, composed: true }));
  };
}

/** The models that a server lists, also one that lacks the model asked for. */
function listedBy(state: ServerState): readonly string[] {
  if (state.kind === 'ready') return state.engine.models;
  return state.kind === 'failed' && state.error instanceof RemoteError ? state.error.models : [];
}

/** A bare host as an address: without encryption where there is mostly none, on this machine and in its network. */
function spelledOut(server: string): string {
  if (server === '' || /^[a-z][a-z+.-]*:\/\//i.test(server)) return server;
  const isNear = /^(?:\[|[^./]+(?:[:/]|$)|(?:\d+\.){3}\d+)/.test(server);
  return `${isNear ? 'http' : 'https'}://${server}`;
}

if (!customElements.get('vivace-server')) customElements.define('vivace-server', VivaceServer);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-server': VivaceServer;
  }
}
