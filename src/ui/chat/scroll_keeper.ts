// Follows growing text at the bottom, until the reader scrolls away; then the view stays where the reader put it.

/** So near to the end, a reader who scrolls down means the end. */
const NEAR_PX = 40;
/** Browsers place at fractions of a pixel. */
const SLACK_PX = 4;
/** A scroll so soon after it is the reader's. */
const GESTURE_MS = 500;
const GESTURES = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

export class ScrollKeeper {
  isFollowing = true;
  /** There is no text to follow: the view begins at the top. */
  private isEmpty = true;
  private lastTop = 0;
  private lastHeight = 0;
  private touchedAt = Number.NEGATIVE_INFINITY;

  /** `column` is the text within the scroller. */
  constructor(
    private readonly scroller: HTMLElement,
    column: HTMLElement,
    private readonly onChange: (isFollowing: boolean) => void,
  ) {
    scroller.addEventListener('scroll', () => this.onScroll(), { passive: true });
    const touch = () => {
      this.touchedAt = performance.now();
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
    this.set(true);
    this.follow();
  }

  /** Runs a change after which `mark` is where it was in the window, though what is above it has another height. */
  async hold(mark: () => Element | null, change: () => Promise<unknown>): Promise<void> {
    this.set(false);
    const before = mark()?.getBoundingClientRect().top;
    await change();
    const after = mark()?.getBoundingClientRect().top;
    if (before !== undefined && after !== undefined) this.scroller.scrollTop += after - before;
    if (this.distance < SLACK_PX) this.set(true);
  }

  private follow(): void {
    if (this.isFollowing && !this.isEmpty) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  /**
   * Up is away from the end where the reader does it. The browser moves the view by itself, too, when text above it gets another
   * height as it is laid out.
   */
  private onScroll(): void {
    const { distance } = this;
    const { scrollTop, scrollHeight } = this.scroller;
    const isReaders = scrollHeight === this.lastHeight || performance.now() - this.touchedAt < GESTURE_MS;
    const isUp = scrollTop < this.lastTop;
    this.lastTop = scrollTop;
    this.lastHeight = scrollHeight;
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
