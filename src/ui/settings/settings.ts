// <vivace-settings>: a button and its popover with all settings. Fires `vivace-settings` when a sampling value changes,
// `vivace-system` when the system prompt changes, and `vivace-reload` with the load settings when the reader asks to
// load the model again with them.

import { html, nothing, type PropertyValues } from 'lit';
import type { EngineInfo } from '../../engine/engine';
import { formatSize } from '../../shared/format';
import { language } from '../../words/language';
import { WordedElement } from '../../words/worded_element';
import { words } from '../../words/words';
import { fitHeight, prepareField } from '../shared/field_height';
import { icons } from '../shared/icons';
import { sharedStyles } from '../shared/shared_styles';
import { contextBytes } from './context_cost';
import {
  type ChoiceField,
  DIALOG_FIELDS,
  type DialogField,
  type DialogSettings,
  LOAD_FIELDS,
  type LoadSettings,
  type NumberField,
  readNumber,
  SAMPLING_FIELDS,
  type SamplingField,
  type SamplingSettings,
  STANDARD_LOAD,
  standardSampling,
  stepsOf,
} from './settings_fields';
import { forModel, presetOf, presetsFor } from './settings_presets';
import { settingsStyles } from './settings_styles';
import { choiceOf, emptyOf, helpOf, labelOf } from './settings_texts';

/** The settings that a reader may change. */
export type SettingsScope = 'all' | 'sampling';

type LoadValue = DialogSettings[keyof DialogSettings];

function renderSlider(field: SamplingField, value: number | null, set: (value: number | null) => void) {
  const [min, max, step] = stepsOf(field);
  return html`<input type="range" aria-label=${labelOf(field.key)} min=${min} max=${max} step=${step}
    .value=${String(value)} @input=${(event: Event) => set(readNumber(field, textOf(event)))} tabindex="-1" />`;
}

function renderNumber<S>(field: NumberField<S>, value: number | null, set: (value: number | null) => void) {
  const [min, max, step] = stepsOf(field);
  const shown = (number: number | null) => (number === null ? '' : String(number));
  const take = ({ target }: Event) => {
    const input = target as HTMLInputElement;
    const chosen = readNumber(field, input.value);
    input.value = shown(chosen); // a clamped number may equal the one before, which no rendering writes again
    set(chosen);
  };
  return html`<input id=${field.key} type="number" inputmode="decimal" min=${min} max=${max} step=${step}
    placeholder=${emptyOf(field.key)} .value=${shown(value)} @change=${take} />`;
}

/** The chosen one is named alone: what it means stands below. */
function renderChoices(field: ChoiceField<DialogSettings>, value: LoadValue, set: (value: LoadValue) => void) {
  return html`<select id=${field.key} aria-describedby="${field.key}-help" @change=${(event: Event) => set(textOf(event) as LoadValue)}>
    ${Object.keys(field.choices).map((choice) => html`<option value=${choice} label=${choice === value ? choice : nothing} .selected=${choice === value}>${describeChoice(field.key, choice)}</option>`)}
  </select>`;
}

function describeChoice(key: keyof DialogSettings, choice: string): string {
  const meaning = choiceOf(key, choice);
  return meaning ? `${choice}: ${meaning}` : choice;
}

function textOf(event: Event): string {
  return (event.target as HTMLInputElement | HTMLSelectElement).value;
}

export class VivaceSettings extends WordedElement {
  static override styles = [sharedStyles, settingsStyles];
  static override properties = {
    sampling: { attribute: false },
    system: { attribute: false },
    loaded: { attribute: false },
    scope: {},
    info: { attribute: false },
    wanted: { state: true },
  };
  declare sampling: SamplingSettings;
  /** The system prompt of the conversation. */
  declare system: string;
  /** The settings of the running model. */
  declare loaded: LoadSettings;
  /** The running model's info, or null. */
  declare info: EngineInfo | null;
  declare wanted: LoadSettings;
  /** The settings shown: all, or only those of sampling, which name no part of the engine. */
  declare scope: SettingsScope;

  constructor() {
    super();
    this.sampling = standardSampling();
    this.system = '';
    this.loaded = STANDARD_LOAD;
    this.info = null;
    this.wanted = STANDARD_LOAD;
    this.scope = 'all';
    // Escape closes the popover and nothing behind it, even while the button that opened it has the focus.
    this.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.panel.matches(':popover-open')) event.stopPropagation();
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener('resize', this.onResize);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener('resize', this.onResize);
  }

  override render() {
    const { settings: text, embed } = words();
    const { close } = embed;
    const differs = LOAD_FIELDS.some(({ key }) => this.wanted[key] !== this.loaded[key]);
    return html`
      <button class="icon" data-testid="settings" popovertarget="panel" title=${text.title} aria-label=${text.title}>
        ${icons.settings}
      </button>
      <div id="panel" popover role="dialog" aria-label=${text.title} @beforetoggle=${this.place} @toggle=${this.fit}>
        <header>
          <h2>${text.title}</h2>
          <button class="link" data-testid="reset-all" title=${text.resetAllTitle} @click=${this.resetAll}>${text.resetAll}</button>
          <button class="icon" data-testid="close-settings" popovertarget="panel" popovertargetaction="hide" title=${close} aria-label=${close}>${icons.close}</button>
        </header>
        ${this.scope === 'all' ? [this.renderSystem(), html`<vivace-answer-form></vivace-answer-form>`] : nothing}
        ${this.renderPresets()}
        ${SAMPLING_FIELDS.map((field) => this.renderSampling(field))}
        ${this.scope === 'all' ? this.renderModel(differs) : nothing}
        <slot></slot>
      </div>
    `;
  }

  private renderSystem() {
    const text = words().settings;
    return html`<div class="system" title=${text.systemTitle}>
          <label for="system">${text.system}</label>
          <textarea id="system" data-testid="system" rows="2" placeholder=${text.systemNone}
            .value=${this.system} @beforeinput=${prepareField} @input=${this.writeSystem}></textarea>
        </div>`;
  }

  private renderModel(differs: boolean) {
    const text = words().settings;
    return html`<h3>${text.model}</h3>
        ${DIALOG_FIELDS.map((field) => this.renderLoad(field))}
        ${
          differs
            ? html`<div class="reload">
                <p>${text.onReload}</p>
                <button class="button primary" data-testid="reload" @click=${this.reload}>${text.reload}</button>
              </div>`
            : nothing
        }`;
  }

  /** Opens the popover at one setting. */
  show(key: keyof SamplingSettings): void {
    this.panel.showPopover();
    this.renderRoot.querySelector<HTMLInputElement>(`input[id=${key}]`)?.focus();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('loaded')) this.wanted = this.loaded;
  }

  private renderPresets() {
    const text = words().settings;
    const suggested = this.info?.samplingDefaults;
    const chosen = presetOf(this.sampling, suggested);
    return html`<div class="presets" role="group" aria-label=${text.style}>
        ${presetsFor(suggested).map(
          ([
            name,
            values,
          ]) => html`<button class="button" data-testid=${`preset-${name}`} aria-pressed=${String(name === chosen)}
            @click=${() => this.setAll({ ...this.sampling, ...values })}>${text.presets[name][0]}</button>`,
        )}
      </div>
      <p class="help" role="status">${chosen === null ? text.ownNumbers : text.presets[chosen][1]}</p>`;
  }

  private renderSampling(field: SamplingField) {
    const value = this.sampling[field.key];
    const set = (chosen: number | null) => this.set(field, chosen);
    return html`<div class="field" title=${helpOf(field.key)}>
      <label for=${field.key}>${labelOf(field.key)}</label>
      ${field.slider ? renderSlider(field, value, set) : html`<span></span>`}
      ${renderNumber(field, value, set)}
      ${this.renderUndo(labelOf(field.key), value !== field.standard, () => set(field.standard))}
    </div>`;
  }

  private renderLoad(field: DialogField) {
    const { key, standard } = field;
    const label = labelOf(key);
    const value = this.wanted[key];
    const set = (chosen: typeof value) => {
      this.wanted = { ...this.wanted, [key]: chosen };
    };
    const meaning = field.kind === 'choice' ? choiceOf(key, String(value)) : this.contextCost();
    return html`<div class="field load" title=${helpOf(key)}>
      <label for=${key}>${label}</label>
      ${field.kind === 'choice' ? renderChoices(field, value, set) : renderNumber(field, value as number | null, set)}
      ${this.renderUndo(label, value !== standard, () => set(standard))}
      <p id="${key}-help" class="help" ?hidden=${!meaning}>${meaning}</p>
    </div>`;
  }

  /** The memory of a context, estimated from the running model's. */
  private contextCost(): string {
    const { info } = this;
    const asked = this.wanted.contextLength ?? info?.contextLength ?? 0;
    const bytes = info && contextBytes(info, asked, this.wanted.kvCache);
    if (!bytes) return helpOf('contextLength');
    const cost = words().settings.contextCost(
      formatSize(bytes / asked, language()),
      asked,
      formatSize(bytes, language()),
    );
    return `${helpOf('contextLength')} ${cost}`;
  }

  private renderUndo(label: string, isChanged: boolean, undo: () => void) {
    const title = words().settings.reset(label);
    return html`<button class="icon small" ?disabled=${!isChanged} title=${title} aria-label=${title} @click=${undo}>
      ${icons.undo}
    </button>`;
  }

  private set(field: SamplingField, value: number | null): void {
    this.setAll({ ...this.sampling, [field.key]: value });
  }

  private setAll(sampling: SamplingSettings): void {
    this.sampling = sampling;
    this.dispatchEvent(new CustomEvent('vivace-settings', { detail: sampling }));
  }

  private writeSystem = (event: Event) => {
    const area = event.target as HTMLTextAreaElement;
    fitHeight(area);
    this.dispatchEvent(new CustomEvent('vivace-system', { detail: area.value }));
  };

  private resetAll = () => {
    this.wanted = STANDARD_LOAD;
    this.setAll(forModel(standardSampling(), undefined, this.info?.samplingDefaults));
  };

  private reload = () => {
    this.panel.hidePopover();
    this.dispatchEvent(new CustomEvent('vivace-reload', { detail: this.wanted, bubbles: true, composed: true }));
  };

  private get panel(): HTMLElement {
    return this.renderRoot.querySelector<HTMLElement>('#panel')!;
  }

  /** Fits the system prompt's height after opening, because hidden elements have none. */
  private fit = (event: ToggleEvent) => {
    const area = this.renderRoot.querySelector('textarea');
    if (event.newState === 'open' && area) fitHeight(area);
  };

  /** A phone's keyboard resizes the window, too. The field that it writes into stays in sight. */
  private onResize = () => {
    if (!this.panel.matches(':popover-open')) return;
    this.place();
    this.shadowRoot!.activeElement?.scrollIntoView({ block: 'nearest' });
  };

  /** Places the popover above its button, inside the chat. The browser's top layer does not position it. */
  private place(): void {
    const button = this.renderRoot.querySelector('button')!.getBoundingClientRect();
    const root = this.getRootNode();
    const chat = (root instanceof ShadowRoot ? root.host : document.documentElement).getBoundingClientRect();
    const width = Math.min(400, Math.max(300, chat.width - 16), innerWidth - 16);
    const most = Math.min(chat.right, innerWidth) - width - 8;
    const { style } = this.panel;
    style.width = `${width}px`;
    style.left = `${Math.max(8, Math.min(button.left, most))}px`;
    style.bottom = `${innerHeight - button.top + 8}px`;
    style.maxHeight = `${Math.max(200, button.top - 16)}px`;
  }
}

if (!customElements.get('vivace-settings')) customElements.define('vivace-settings', VivaceSettings);
