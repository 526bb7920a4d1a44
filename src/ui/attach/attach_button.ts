// <vivace-attach>: the button that chooses files for a question. Fires `vivace-attach` with them.

import { html } from 'lit';
import { pageWords } from '../../words/page_words';
import { WordedElement } from '../../words/worded_element';
import { icons } from '../shared/icons';
import { sharedStyles } from '../shared/shared_styles';

class VivaceAttach extends WordedElement {
  static override styles = [sharedStyles];

  override render() {
    const label = pageWords().attach.button;
    return html`<button class="icon" data-testid="attach" title=${label} aria-label=${label} @click=${this.choose}>${icons.clip}</button>
      <input type="file" multiple hidden data-testid="attach-files" @change=${this.onChange} />`;
  }

  private get input(): HTMLInputElement {
    return this.renderRoot.querySelector('input')!;
  }

  private choose = () => this.input.click();

  private onChange = () => {
    const files = [...(this.input.files ?? [])];
    this.input.value = ''; // the same file can be chosen again
    if (files.length > 0) this.dispatchEvent(new CustomEvent('vivace-attach', { detail: files }));
  };
}

if (!customElements.get('vivace-attach')) customElements.define('vivace-attach', VivaceAttach);
