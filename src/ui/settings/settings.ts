// <vivace-settings>: a button and the popover with all settings. Fires `vivace-settings` when a sampling value changed, `vivace-system` when
// the system prompt did, and `vivace-reload` with the load settings when the reader wants the model loaded anew with them.

import { html, LitElement, nothing, type PropertyValues } from 'lit';
import { fitHeight } from '../shared/field_height';
import { icons } from '../shared/icons';
import { sharedStyles } from '../shared/shared_styles';
import {
  LOAD_FIELDS,
  type LoadField,
  type LoadSettings,
  readNumber,
  SAMPLING_FIELDS,
  type SamplingField,
  type SamplingSettings,
  STANDARD_LOAD,
  standardSampling,
} from './settings_fields';
import { settingsStyles } from './settings_styles';

export class VivaceSettings extends LitElement {
  static override styles = [sharedStyles, settingsStyles];
  static override properties = {
    sampling: { attribute: false },
    system: { attribute: false },
    loaded: { attribute: false },
    wanted: { state: true },
  };
  declare sampling: SamplingSettings;
  /** The system prompt of the conversation. */
  declare system: string;
  /** What the model was loaded with. */
  declare loaded: LoadSettings;
  declare wanted: LoadSettings;

  constructor() {
    super();
    this.sampling = standardSampling();
    this.system = '';
    this.loaded = STANDARD_LOAD;
    this.wanted = STANDARD_LOAD;
    // Escape closes the popover, and nothing behind it, also while the button that opened it has the focus.
    this.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.panel.matches(':popover-open')) event.stopPropagation();
    });
  }

  override render() {
    const differs = LOAD_FIELDS.some(({ key }) => this.wanted[key] !== this.loaded[key]);
    return html`
      <button class="icon" data-testid="settings" popovertarget="panel" title="Settings" aria-label="Settings">
        ${icons.settings}
      </button>
      <div id="panel" popover role="dialog" aria-label="Settings" @beforetoggle=${this.place} @toggle=${this.fit}>
        <header>
          <h2>Settings</h2>
          <button class="link" data-testid="reset-all" title="Sampling and model as they were at first" @click=${this.resetAll}>Reset all</button>
        </header>
        <div class="system" title="What the model is told before the conversation. New conversations begin with it, too.">
          <label for="system">System prompt</label>
          <textarea id="system" data-testid="system" rows="2" placeholder="None. For example: Answer in one sentence."
            .value=${this.system} @input=${this.writeSystem}></textarea>
        </div>
        ${SAMPLING_FIELDS.map((field) => this.renderSampling(field))}
        <h3>Model</h3>
        ${LOAD_FIELDS.map((field) => this.renderLoad(field))}
        ${
          differs
            ? html`<div class="reload">
                <p>These take effect when the model is loaded again. The conversation stays.</p>
                <button class="button primary" data-testid="reload" @click=${this.reload}>Load again</button>
              </div>`
            : nothing
        }
      </div>
    `;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('loaded')) this.wanted = this.loaded;
  }

  private renderSampling(field: SamplingField) {
    const value = this.sampling[field.key];
    const set = (event: Event) => this.set(field, readNumber(field, (event.target as HTMLInputElement).value));
    const text = value === null ? '' : String(value);
    return html`<div class="field" title=${field.help}>
      <label for=${field.key}>${field.label}</label>
      ${
        field.slider
          ? html`<input type="range" aria-label=${field.label} min=${field.min} max=${field.max} step=${field.step}
              .value=${text} @input=${set} tabindex="-1" />`
          : html`<span></span>`
      }
      <input id=${field.key} type="number" inputmode="decimal" min=${field.min} max=${field.max} step=${field.step}
        placeholder=${field.placeholder ?? ''} .value=${text} @change=${set} />
      ${this.renderUndo(field.label, value !== field.standard, () => this.set(field, field.standard))}
    </div>`;
  }

  private renderLoad(field: LoadField) {
    const value = this.wanted[field.key];
    const set = (choice: string) => {
      this.wanted = { ...this.wanted, [field.key]: choice };
    };
    const help = field.choices.find(([choice]) => choice === value)?.[2];
    return html`<div class="field load" title=${field.help}>
      <label for=${field.key}>${field.label}</label>
      <select id=${field.key} aria-describedby="${field.key}-help" @change=${(event: Event) => set((event.target as HTMLSelectElement).value)}>
        ${field.choices.map(([choice, label, words]) => html`<option value=${choice} .selected=${choice === value}>${label}${words ? `: ${words}` : ''}</option>`)}
      </select>
      ${this.renderUndo(field.label, value !== STANDARD_LOAD[field.key], () => set(STANDARD_LOAD[field.key]))}
      <p id="${field.key}-help" class="help" ?hidden=${!help}>${help}</p>
    </div>`;
  }

  private renderUndo(label: string, isChanged: boolean, undo: () => void) {
    const title = `Reset ${label}`;
    return html`<button class="icon small" ?disabled=${!isChanged} title=${title} aria-label=${title} @click=${undo}>
      ${icons.undo}
    </button>`;
  }

  private set(field: SamplingField, value: number | null): void {
    this.sampling = { ...this.sampling, [field.key]: value };
    this.dispatchEvent(new CustomEvent('vivace-settings', { detail: this.sampling }));
    // A number out of range was brought into it: show what holds now, even where nothing changed.
    this.requestUpdate();
  }

  private writeSystem = (event: Event) => {
    const area = event.target as HTMLTextAreaElement;
    fitHeight(area);
    this.dispatchEvent(new CustomEvent('vivace-system', { detail: area.value }));
  };

  private resetAll = () => {
    this.sampling = standardSampling();
    this.wanted = STANDARD_LOAD;
    this.dispatchEvent(new CustomEvent('vivace-settings', { detail: this.sampling }));
  };

  private reload = () => {
    this.panel.hidePopover();
    this.dispatchEvent(new CustomEvent('vivace-reload', { detail: this.wanted, bubbles: true, composed: true }));
  };

  private get panel(): HTMLElement {
    return this.renderRoot.querySelector<HTMLElement>('#panel')!;
  }

  /** Only what is shown has a height. */
  private fit = (event: ToggleEvent) => {
    if (event.newState === 'open') fitHeight(this.renderRoot.querySelector('textarea')!);
  };

  /** Above the button, inside the window: a popover is in the top layer and knows nothing of where it was opened. */
  private place = (event: ToggleEvent) => {
    if (event.newState !== 'open') return;
    const button = this.renderRoot.querySelector('button')!.getBoundingClientRect();
    const width = Math.min(400, innerWidth - 16);
    const { style } = this.panel;
    style.width = `${width}px`;
    style.left = `${Math.max(8, Math.min(button.left, innerWidth - width - 8))}px`;
    style.bottom = `${innerHeight - button.top + 8}px`;
    style.maxHeight = `${Math.max(200, button.top - 16)}px`;
  };
}

if (!customElements.get('vivace-settings')) customElements.define('vivace-settings', VivaceSettings);
