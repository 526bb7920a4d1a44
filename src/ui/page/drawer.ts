// Drawers for the parts of the page that narrow screens have no room for.

/** Makes the button open and close the drawer. Escape and the drawer's own button close it and return the focus. */
export function connectDrawer(drawer: HTMLElement, button: HTMLElement, close: HTMLElement): { close(): void } {
  const set = (isOpen: boolean) => {
    drawer.classList.toggle('open', isOpen);
    button.setAttribute('aria-expanded', String(isOpen));
    (isOpen ? close : button).focus();
  };
  button.addEventListener('click', () => set(!drawer.classList.contains('open')));
  close.addEventListener('click', () => set(false));
  drawer.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !drawer.classList.contains('open') || event.defaultPrevented) return;
    event.preventDefault(); // so that the key stops no answer
    set(false);
  });
  return {
    close() {
      if (drawer.classList.contains('open')) set(false);
    },
  };
}
