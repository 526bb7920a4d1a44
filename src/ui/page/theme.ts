// The theme: light, dark or the system's. The choice is stored if the browser allows it.

export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'vivace-theme';
const ORDER: readonly Theme[] = ['auto', 'light', 'dark'];
const LABELS: Record<Theme, string> = { auto: 'as the system has them', light: 'light', dark: 'dark' };

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
    button.title = `Colors: ${LABELS[theme]}`;
    button.setAttribute('aria-label', `Colors: ${LABELS[theme]}`);
    onChange(theme);
  };
  button.addEventListener('click', () => {
    theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
    remember(theme);
    apply();
  });
  apply();
}
