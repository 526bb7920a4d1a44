// Small behaviours of the page: drawers that hold what narrow screens have no room for, and model files dropped on the page.

/** The button opens and closes the drawer; Escape and the drawer's own button close it and give the focus back. */
export function connectDrawer(drawer: HTMLElement, button: HTMLElement, close: HTMLElement): { close(): void } {
  const set = (isOpen: boolean) => {
    drawer.classList.toggle('open', isOpen);
    button.setAttribute('aria-expanded', String(isOpen));
    (isOpen ? close : button).focus();
  };
  button.addEventListener('click', () => set(!drawer.classList.contains('open')));
  close.addEventListener('click', () => set(false));
  drawer.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && drawer.classList.contains('open') && !event.defaultPrevented) set(false);
  });
  return {
    close() {
      if (drawer.classList.contains('open')) set(false);
    },
  };
}

/** Files dropped anywhere on the page are a model to open. Without this the browser would leave the page for them. */
export function connectDrop(target: HTMLElement, onDrop: (dropped: DataTransfer) => void): void {
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  target.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    target.classList.add('dropping');
  });
  target.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) target.classList.remove('dropping');
  });
  target.addEventListener('drop', (event) => {
    target.classList.remove('dropping');
    if (!hasFiles(event) || event.defaultPrevented) return; // a part of the page may have taken them
    event.preventDefault();
    onDrop(event.dataTransfer!);
  });
}
