// Follows growing text at the bottom until the reader scrolls away. Then the view stays where the reader left it.

/** The distance to the end from which a scroll down counts as one to the end. */
const NEAR_PX = 40;
/** The tolerance for positions, which browsers round to fractions of a pixel. */
const SLACK_PX = 4;
/** The time after a gesture in which a scroll is the reader's. */
const GESTURE_MS = 500;
/** Frames in which an element that is shown must keep its place, and the most that are waited for. */
const STILL_FRAMES = 4;
const SHOW_FRAMES = 120;
const GESTURES = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

export class ScrollKeeper {
  isFollowing = true;
  /** True if there is no text to follow. The view then begins at the top. */
  private isEmpty = true;
  private lastTop = 0;
  private lastHeight = 0;
  private touchedAt = Number.NEGATIVE_INFINITY;
  /** The element that `show` has brought into view, until the reader or something else moves the view. */
  private shown: Element | null = null;

  /** @param column the text within the scroller */
  constructor(
    private readonly scroller: HTMLElement,
    column: HTMLElement,
    private readonly onChange: (isFollowing: boolean) => void,
  ) {
    scroller.addEventListener('scroll', () => this.onScroll(), { passive: true });
    const touch = () => {
      this.touchedAt = performance.now();
      this.shown = null;
    };
    for (const name of GESTURES) scroller.addEventListener(name, touch, { passive: true });
    // The text grows; its window shrinks when a phone's keyboard opens.
    const observer = new ResizeObserver(() => this.follow());
    observer.observe(scroller);
    observer.observe(column);
  }

  setEmpty(isEmpty: boolean): void {
    if (isEmpty === this.isEmpty) return;
    this.isEmpty = isEmpty;
    if (isEmpty) this.scroller.scrollTop = 0;
    else this.jumpToEnd();
  }

  jumpToEnd(): void {
    this.shown = null;
    this.set(true);
    this.follow();
  }

  /** Runs a change and keeps `mark` at its place in the window, though the text above it changes its height. */
  async hold(mark: () => Element | null, change: () => Promise<unknown>): Promise<void> {
    this.shown = null;
    this.set(false);
    const before = mark()?.getBoundingClientRect().top;
    await change();
    const after = mark()?.getBoundingClientRect().top;
    if (before !== undefined && after !== undefined) this.scroller.scrollTop += after - before;
    if (this.distance < SLACK_PX) this.set(true);
  }

  /**
   * Scrolls to an element. The turns get their text and their real heights only with the next frames, so it scrolls
   * until the element stays in its place, or the reader scrolls.
   */
  async show(element: Element): Promise<void> {
    this.set(false);
    this.shown = element;
    let before = '';
    for (let i = 0, still = 0; i < SHOW_FRAMES && still < STILL_FRAMES && this.shown === element; i++) {
      element.scrollIntoView({ block: 'start' });
      await new Promise(requestAnimationFrame);
      const now = `${element.getBoundingClientRect().top} ${this.scroller.scrollHeight}`;
      still = now === before ? still + 1 : 0;
      before = now;
    }
    if (this.shown === element && this.distance < SLACK_PX) this.jumpToEnd(); // nothing is below
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    element.animate([{ background: 'var(--v-accent-soft)' }, {}], { duration: 1600, easing: 'ease-in' });
  }

  private follow(): void {
    if (this.isFollowing && !this.isEmpty) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  /**
   * A scroll up ends the following if it is the reader's. The browser moves the view by itself, too, when the layout of
   * the text above it changes its height.
   */
  private onScroll(): void {
    const { distance } = this;
    const { scrollTop, scrollHeight } = this.scroller;
    const isReaders = scrollHeight === this.lastHeight || performance.now() - this.touchedAt < GESTURE_MS;
    const isUp = scrollTop < this.lastTop;
    this.lastTop = scrollTop;
    this.lastHeight = scrollHeight;
    if (this.shown) return; // the view fits for a moment, before the turns have their heights
    if (distance < SLACK_PX || (!isUp && distance < NEAR_PX)) this.set(true);
    else if (isUp && isReaders) this.set(false);
  }

  /** Pixels to the end. */
  private get distance(): number {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight;
  }

  private set(isFollowing: boolean): void {
    if (isFollowing === this.isFollowing) return;
    this.isFollowing = isFollowing;
    this.onChange(isFollowing);
  }
}
