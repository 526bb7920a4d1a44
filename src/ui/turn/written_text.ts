// A growing text of the model in one element, written once as Markdown while it streams.

import { pageBudget } from '../markdown/frame_budget';
import { MarkdownWriter } from '../markdown/markdown';
import { directionOf } from '../markdown/markdown_text';
import { withPart } from '../markdown/parts';

export class WrittenText {
  /** Letters written so far. */
  length = 0;
  /** True while letters of a complete text wait for frames. */
  isBusy = false;

  private writer: MarkdownWriter | null = null;
  private hasEnded = false;

  /** @param onEnd called when all of a complete text is in the element */
  constructor(private readonly onEnd: () => void = () => {}) {}

  /** Writes what is new in `text`. The element is the same in each call. */
  write(element: HTMLElement, text: string, isEnd: boolean): void {
    if (this.hasEnded && text.length > this.length) this.restart(element); // the answer goes on
    this.writer ??= new MarkdownWriter(element, pageBudget, this.end);
    if (element.dir === '') element.dir = directionOf(text);
    if (text.length > this.length) {
      this.writer.write(text.slice(this.length));
      this.length = text.length;
    }
    if (!isEnd || this.hasEnded) return;
    this.hasEnded = true;
    this.isBusy = true;
    this.writer.end();
    if (!mayBeJson(text)) return;
    withPart('json', ({ showJson }) => {
      // It may go on meanwhile. What is not written yet would come below the tree.
      if (!this.hasEnded || this.length !== text.length || !showJson(element, text)) return;
      this.writer?.stop();
      this.end();
    });
  }

  private end = (): void => {
    this.isBusy = false;
    this.onEnd();
  };

  /** Markdown that has ended takes no more text, so it is written again. */
  private restart(element: HTMLElement): void {
    this.writer?.stop();
    this.writer = null;
    element.replaceChildren();
    this.length = 0;
    this.hasEnded = false;
    this.isBusy = false;
  }
}

/** A cheap look at both ends. */
const mayBeJson = (text: string) => /^\s*[{[]/.test(text) && /[}\]]\s*$/.test(text.slice(-64));
