// Drawers for the parts of the page that narrow screens have no room for. An open one lies over the page, which takes
// neither focus nor clicks; Escape, a tap beside it and its own button close it and return the focus.

interface DrawerParts {
  drawer: HTMLElement;
  /** The button of the page that opens it, and has the focus afterwards. */
  opener: HTMLElement;
  /** The button within it. */
  closer: HTMLElement;
  scrim: HTMLElement;
  /** The windows that have no room for the part. In others it is no drawer. */
  narrow: MediaQueryList;
}

export class Drawer {
  constructor(private readonly parts: DrawerParts) {
    const { drawer, closer, scrim, narrow } = parts;
    drawer.tabIndex = -1; // a click beside its buttons leaves the focus within it
    closer.addEventListener('click', () => this.close());
    scrim.addEventListener('click', () => this.close());
    // Of the whole page: after a Tab out of it the focus is nowhere. Those of the document, which stop an answer, come
    // later.
    document.body.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.isOpen || event.defaultPrevented) return;
      event.preventDefault(); // so that the key stops no answer
      this.close();
    });
    narrow.addEventListener('change', () => {
      if (this.isOpen) this.set(false);
    });
  }

  get isOpen(): boolean {
    return this.parts.drawer.classList.contains('open');
  }

  toggle(): void {
    if (this.isOpen) this.close();
    else this.open();
  }

  open(): void {
    this.parts.scrim.click(); // closes whichever is open
    this.set(true);
    this.parts.closer.focus();
  }

  /** Opens it in a window that has no room for the part. */
  openIfNarrow(): void {
    if (this.parts.narrow.matches) this.open();
  }

  close(): void {
    if (!this.isOpen) return;
    this.set(false);
    this.parts.opener.focus();
  }

  private set(isOpen: boolean): void {
    const { drawer, opener, scrim } = this.parts;
    drawer.classList.toggle('open', isOpen);
    opener.setAttribute('aria-expanded', String(isOpen));
    scrim.hidden = !isOpen;
    for (const other of this.others()) other.inert = isOpen;
  }

  /** Everything of the page beside the drawer and its scrim. */
  private others(): HTMLElement[] {
    const { drawer, scrim } = this.parts;
    const siblings = (of: HTMLElement) =>
      [...(of.parentElement?.children ?? [])].filter(
        (each): each is HTMLElement => each instanceof HTMLElement && each !== of && each !== scrim,
      );
    const place = drawer.parentElement;
    return [...siblings(drawer), ...(place && place !== document.body ? siblings(place) : [])];
  }
}
