// What pointer and wheel do to a plot: point, select a range by dragging, move it by dragging with Shift, zoom by wheel
// or by two fingers, and reset by a double click. Places are CSS pixels within the plot. Knows nothing of scales.

export interface GestureActions {
  /** True where wheel and fingers belong to the chart alone: nothing else could be scrolled. */
  isAlone(): boolean;
  /** The number of client pixels per pixel of the plot: a page may zoom or transform what is around the chart. */
  scale(): number;
  point(x: number, y: number): void;
  leave(): void;
  select(from: number, to: number): void;
  /** Moves what is shown with the pointer, by pixels to the right. */
  drag(by: number): void;
  /** @param factor on the shown range: below 1 it narrows */
  zoom(factor: number, x: number): void;
  reset(): void;
}

/** Pixels of a drag below which it is a click. */
const CLICK_PX = 4;
/** Pixels of a wheel's step in lines, and the zoom of a pixel. */
const LINE_PX = 30;
const ZOOM_PER_PX = 0.002;

type Drag = { kind: 'select' | 'move'; from: number; last: number; isMoved: boolean };

export class Gestures {
  private readonly fingers = new Map<number, number>();
  private drag: Drag | null = null;
  private readonly brush = document.createElement('i');

  constructor(
    private readonly over: HTMLElement,
    private readonly actions: GestureActions,
  ) {
    this.brush.className = 'brush';
    this.brush.hidden = true;
    over.append(this.brush);
    over.addEventListener('pointerdown', this.down);
    over.addEventListener('pointermove', this.move);
    over.addEventListener('pointerup', this.up);
    over.addEventListener('pointercancel', this.cancel);
    over.addEventListener('pointerleave', this.leave);
    over.addEventListener('wheel', this.wheel, { passive: false });
    over.addEventListener('dblclick', () => this.actions.reset());
  }

  private at({ clientX, clientY }: MouseEvent): [x: number, y: number] {
    const { left, top } = this.over.getBoundingClientRect();
    const scale = this.actions.scale();
    return [(clientX - left) / scale, (clientY - top) / scale];
  }

  private readonly down = (event: PointerEvent) => {
    const [x, y] = this.at(event);
    this.actions.point(x, y);
    if (event.pointerType === 'touch') {
      if (this.actions.isAlone()) this.fingers.set(event.pointerId, x);
    } else if (event.button === 0) {
      this.drag = { kind: event.shiftKey ? 'move' : 'select', from: x, last: x, isMoved: false };
      this.over.setPointerCapture(event.pointerId);
    }
  };

  private readonly move = (event: PointerEvent) => {
    const [x, y] = this.at(event);
    if (this.fingers.has(event.pointerId)) this.pinch(event.pointerId, x);
    const { drag } = this;
    if (!drag) {
      if (this.fingers.size < 2) this.actions.point(x, y);
      return;
    }
    drag.isMoved ||= Math.abs(x - drag.from) > CLICK_PX;
    if (!drag.isMoved) return;
    if (drag.kind === 'move') {
      this.actions.drag(x - drag.last);
      drag.last = x;
    } else this.paint(drag.from, x);
  };

  private readonly up = (event: PointerEvent) => {
    const { drag } = this;
    this.cancel(event);
    if (drag?.kind === 'select' && drag.isMoved) this.actions.select(drag.from, this.at(event)[0]);
  };

  private readonly cancel = ({ pointerId }: PointerEvent) => {
    this.fingers.delete(pointerId);
    this.drag = null;
    this.brush.hidden = true;
  };

  private readonly leave = () => {
    if (!this.drag) this.actions.leave();
  };

  private readonly wheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !this.actions.isAlone()) return;
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE_PX;
    const [sideways, along] = event.shiftKey ? [event.deltaY || event.deltaX, 0] : [event.deltaX, event.deltaY];
    if (Math.abs(sideways) > Math.abs(along)) this.actions.drag(-sideways * unit);
    else this.actions.zoom(Math.exp(along * unit * ZOOM_PER_PX), this.at(event)[0]);
  };

  /** Two fingers: their distance zooms, and their middle moves. */
  private pinch(id: number, x: number): void {
    const before = this.fingers.get(id) ?? x;
    this.fingers.set(id, x);
    const other = [...this.fingers].find(([each]) => each !== id)?.[1];
    if (other === undefined) return;
    const [near, far] = [Math.abs(before - other), Math.abs(x - other)];
    if (near > 1 && far > 1) this.actions.zoom(near / far, other);
  }

  private paint(from: number, to: number): void {
    const left = Math.max(0, Math.min(from, to));
    const right = Math.min(this.over.clientWidth, Math.max(from, to));
    this.brush.hidden = false;
    this.brush.style.left = `${left}px`;
    this.brush.style.width = `${Math.max(0, right - left)}px`;
  }
}
