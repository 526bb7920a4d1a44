// Follows growing text at the bottom, until the reader scrolls away; then the view stays where the reader put it.

/** So near to the end, the reader means the end. */
const NEAR_PX = 40;

export class ScrollKeeper {
  isFollowing = true;
  private frame = 0;

  constructor(
    private readonly scroller: HTMLElement,
    private readonly onChange: (isFollowing: boolean) => void,
  ) {
    scroller.addEventListener('scroll', () => this.onScroll(), { passive: true });
    // The window of the text shrinks when a phone's keyboard opens.
    new ResizeObserver(() => this.follow()).observe(scroller);
  }

  /** The text has grown. */
  follow(): void {
    if (!this.isFollowing) return;
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      if (this.isFollowing) this.scroller.scrollTop = this.scroller.scrollHeight;
    });
  }

  jumpToEnd(): void {
    this.set(true);
    this.follow();
  }

  private onScroll(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    this.set(scrollHeight - scrollTop - clientHeight < NEAR_PX);
  }

  private set(isFollowing: boolean): void {
    if (isFollowing === this.isFollowing) return;
    this.isFollowing = isFollowing;
    this.onChange(isFollowing);
  }
}
