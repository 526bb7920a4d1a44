// <vivace-answer-form>: whether answers are text, JSON, or JSON by a schema, which is checked while it is written.
// Fires `vivace-answer-form` with the constraint of answers, or null. For the page, which brings it after its first
// paint.

import { css, html, nothing } from 'lit';
import { type Constraint, checkConstraint } from '../../engine/engine';
import { pageWords } from '../../words/page_words';
import { sayReason } from '../../words/reasons';
import { WordedElement } from '../../words/worded_element';
import { sharedStyles } from '../shared/shared_styles';
import { settingsStyles } from './settings_styles';

/** Longest text of a schema. */
const MAX_SCHEMA = 64 * 1024;

type Kind = 'text' | 'json' | 'schema';
const KINDS = ['text', 'json', 'schema'] as const;

/** The wish without a schema that is no JSON or cannot be enforced. */
const ANY_JSON: Constraint = { kind: 'json_object' };

export class VivaceAnswerForm extends WordedElement {
  static override styles = [
    sharedStyles,
    settingsStyles,
    css`
      :host { display: block; margin-bottom: 10px; }
      textarea { font: 400 var(--v-size-small) / 1.45 ui-monospace, monospace; }
      .problem { margin: 5px 0 0; font-size: var(--v-size-small); overflow-wrap: anywhere; }
    `,
  ];
  static override properties = {
    kind: { state: true },
    problem: { state: true },
  };
  declare private kind: Kind;
  /** The fault of the schema, or ''. */
  declare private problem: string;
  private schema = '';
  /** The newest check: a result of an earlier one comes too late. */
  private check = 0;

  constructor() {
    super();
    this.kind = 'text';
    this.problem = '';
  }

  override render() {
    const text = pageWords().answerForm;
    return html`
      <div class="field load" title=${text.help}>
        <label for="kind">${text.title}</label>
        <select id="kind" data-testid="answer-form" @change=${this.choose}>
          ${KINDS.map((kind) => html`<option value=${kind} .selected=${kind === this.kind}>${text.kinds[kind]}</option>`)}
        </select>
      </div>
      ${
        this.kind === 'schema'
          ? html`<textarea data-testid="schema" rows="5" spellcheck="false" autocomplete="off" maxlength=${MAX_SCHEMA}
              aria-label=${text.schema} aria-describedby="problem" aria-invalid=${this.problem !== ''}
              placeholder='{"type": "object", "properties": {…}}' .value=${this.schema} @input=${this.write}></textarea>`
          : nothing
      }
      <p id="problem" class="problem" role="status" data-testid="schema-problem" ?hidden=${this.problem === ''}>${this.problem}</p>
    `;
  }

  private choose = (event: Event) => {
    this.kind = (event.target as HTMLSelectElement).value as Kind;
    void this.apply();
  };

  /** The field is inside the composer's form, which hears every input. */
  private write = (event: Event) => {
    event.stopPropagation();
    this.schema = (event.target as HTMLTextAreaElement).value;
    void this.apply();
  };

  /** Tells the constraint, first as it is written, and again where it turns out that it cannot be enforced. */
  private async apply(): Promise<void> {
    const check = ++this.check;
    this.problem = '';
    if (this.kind !== 'schema') return this.tell(this.kind === 'json' ? ANY_JSON : null);
    this.tell(ANY_JSON);
    if (this.schema.trim() === '') return;
    try {
      const constraint: Constraint = { kind: 'json_schema', schema: JSON.parse(this.schema) };
      const warnings = await checkConstraint(constraint);
      if (check !== this.check) return;
      this.problem = warnings.map(sayReason).join(' ');
      this.tell(constraint);
    } catch (error) {
      if (check !== this.check) return;
      const { problem, noJson } = pageWords().answerForm;
      this.problem = problem(error instanceof SyntaxError ? noJson : sayReason(String((error as Error).message)));
    }
  }

  private tell(constraint: Constraint | null): void {
    this.dispatchEvent(new CustomEvent('vivace-answer-form', { detail: constraint, bubbles: true, composed: true }));
  }
}

if (!customElements.get('vivace-answer-form')) customElements.define('vivace-answer-form', VivaceAnswerForm);
