// Small behaviours of the page: the drawer that holds the panel on narrow screens, and model files dropped on the page.

/** The button opens and closes the drawer; Escape and the drawer's own button close it and give the focus back. */
export function connectDrawer(drawer: HTMLElement, button: HTMLElement, close: HTMLElement): void {
  const set = (isOpen: boolean) => {
    drawer.classList.toggle('open', isOpen);
    button.setAttribute('aria-expanded', String(isOpen));
    (isOpen ? close : button).focus();
  };
  button.addEventListener('click', () => set(!drawer.classList.contains('open')));
  close.addEventListener('click', () => set(false));
  drawer.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && drawer.classList.contains('open')) set(false);
  });
}

/** Files dropped anywhere on the page are a model to open. Without this the browser would leave the page for them. */
export function connectDrop(target: HTMLElement, onFiles: (files: File[]) => void): void {
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
    if (!hasFiles(event)) return;
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length > 0) onFiles(files);
  });
}
