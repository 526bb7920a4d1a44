// The theme: light, dark or the system's. The choice is stored if the browser allows it.

import { onLanguage } from '../../words/language';
import { pageWords } from '../../words/page_words';

export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'vivace-theme';
const ORDER: readonly Theme[] = ['auto', 'light', 'dark'];

function remembered(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return ORDER.find((theme) => theme === value) ?? 'auto';
  } catch {
    return 'auto'; // storage is refused, as in a cross-site frame
  }
}

function remember(theme: Theme): void {
  try {
    if (theme === 'auto') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // without storage the choice lasts as long as the page
  }
}

/** Makes a button go through the themes. `onChange` gets each, the first included. */
export function connectThemeButton(button: HTMLButtonElement, onChange: (theme: Theme) => void): void {
  let theme = remembered();
  const apply = () => {
    document.documentElement.dataset.theme = theme;
    name();
    onChange(theme);
  };
  const name = () => {
    button.title = pageWords().theme[theme];
    button.setAttribute('aria-label', button.title);
  };
  onLanguage(name);
  button.addEventListener('click', () => {
    theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
    remember(theme);
    apply();
  });
  apply();
}
