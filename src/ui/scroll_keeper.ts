// Follows growing text at the bottom, until the reader scrolls away; then the view stays where the reader put it.

/** So near to the end, a reader who scrolls down means the end. */
const NEAR_PX = 40;
/** Browsers place at fractions of a pixel. */
const SLACK_PX = 4;

export class ScrollKeeper {
  isFollowing = true;
  private lastTop = 0;

  /** `column` is the text within the scroller. */
  constructor(
    private readonly scroller: HTMLElement,
    column: HTMLElement,
    private readonly onChange: (isFollowing: boolean) => void,
  ) {
    scroller.addEventListener('scroll', () => this.onScroll(), { passive: true });
    // The text grows; its window shrinks when a phone's keyboard opens.
    const observer = new ResizeObserver(() => this.follow());
    observer.observe(scroller);
    observer.observe(column);
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
    if (this.isFollowing) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  /** Up is away from the end. The text above may change its height as it comes into view, so the distance alone says nothing. */
  private onScroll(): void {
    const { distance } = this;
    const { scrollTop } = this.scroller;
    const isUp = scrollTop < this.lastTop;
    this.lastTop = scrollTop;
    if (distance < SLACK_PX || (!isUp && distance < NEAR_PX)) this.set(true);
    else if (isUp) this.set(false);
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
