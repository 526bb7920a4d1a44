// The panel's place in the page. In a wide window it stands beside the chat, closed until the reader opens it, in the
// width that the reader gave it; in a narrow one it is a drawer.

import type { Drawer } from './drawer';
import { CLOSED, fitWidth, LEAST_WIDTH, mostWidth, readPanelState, writePanelState } from './panel_state';

interface SidePanelParts {
  /** The grid that has the panel as its last column. It gets the class `timing`. */
  place: HTMLElement;
  opener: HTMLElement;
  /** The edge between chat and panel. */
  edge: HTMLElement;
  drawer: Drawer;
  narrow: MediaQueryList;
}

/** Pixels that an arrow key moves the edge. */
const STEP = 16;

export class SidePanel {
  private state = readPanelState();

  constructor(private readonly parts: SidePanelParts) {
    const { opener, edge, narrow } = parts;
    opener.addEventListener('click', () => this.toggle());
    narrow.addEventListener('change', () => this.show());
    addEventListener('resize', () => this.show());
    edge.addEventListener('pointerdown', (event) => this.onDrag(event));
    edge.addEventListener('keydown', (event) => this.onKey(event));
    edge.addEventListener('dblclick', () => this.resize(CLOSED.width, true));
    this.show();
  }

  private toggle(): void {
    const { narrow, drawer } = this.parts;
    if (narrow.matches) {
      drawer.toggle();
      return;
    }
    this.state = { ...this.state, isOpen: !this.state.isOpen };
    writePanelState(this.state);
    this.show();
  }

  private show(): void {
    const { place, opener, edge, narrow, drawer } = this.parts;
    const isOpen = narrow.matches ? drawer.isOpen : this.state.isOpen;
    const width = fitWidth(this.state.width, innerWidth);
    place.classList.toggle('timing', this.state.isOpen);
    document.body.style.setProperty('--panel-width', `${width}px`); // the line under the page keeps off the panel, too
    opener.setAttribute('aria-expanded', String(isOpen));
    edge.setAttribute('aria-valuemin', String(LEAST_WIDTH));
    edge.setAttribute('aria-valuemax', String(mostWidth(innerWidth)));
    edge.setAttribute('aria-valuenow', String(width));
  }

  private resize(width: number, isLast: boolean): void {
    this.state = { ...this.state, width: fitWidth(width, innerWidth) };
    if (isLast) writePanelState(this.state);
    this.show();
  }

  private onKey(event: KeyboardEvent): void {
    const width = fitWidth(this.state.width, innerWidth);
    const widths: Record<string, number> = {
      ArrowLeft: width + STEP,
      ArrowRight: width - STEP,
      Home: LEAST_WIDTH,
      End: mostWidth(innerWidth),
    };
    const wanted = widths[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    this.resize(wanted, true);
  }

  private onDrag(down: PointerEvent): void {
    if (down.button !== 0) return;
    const { edge } = this.parts;
    const start = fitWidth(this.state.width, innerWidth);
    const over = new AbortController();
    const { signal } = over;
    down.preventDefault(); // no text is selected
    edge.focus();
    edge.setPointerCapture(down.pointerId);
    edge.addEventListener('pointermove', ({ clientX }) => this.resize(start + down.clientX - clientX, false), {
      signal,
    });
    const end = () => {
      over.abort();
      writePanelState(this.state);
    };
    edge.addEventListener('lostpointercapture', end, { signal });
  }
}
