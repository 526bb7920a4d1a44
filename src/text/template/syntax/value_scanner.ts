// Finds the end of a value in brackets, in the notations that models use: JSON, Python, and texts between markers of
// their own.

/** Follows brackets and quotes over pieces of a text. */
export class ValueScanner {
  private depth = 0;
  private quote = '';
  private isEscaped = false;

  constructor(private readonly quotes: readonly string[]) {}

  /** True once the bracket that began the value is closed. */
  isDone = false;

  /** Reads on and returns the number of units read: all, or up to the value's end or a possible quote. */
  read(text: string): number {
    for (let at = 0; at < text.length; at++) {
      const unit = text[at];
      if (this.quote === '' ? this.quotes.some((quote) => isBegun(quote, text, at)) : isBegun(this.quote, text, at)) {
        return at;
      }
      if (this.isEscaped) this.isEscaped = false;
      else if (this.quote !== '') {
        if (unit === '\\' && this.quote.length === 1) this.isEscaped = true;
        else if (text.startsWith(this.quote, at)) {
          at += this.quote.length - 1;
          this.quote = '';
        }
      } else if ('{[('.includes(unit)) this.depth++;
      else if ('}])'.includes(unit)) {
        if (--this.depth <= 0) {
          this.isDone = true;
          return at + 1;
        }
      } else {
        const opened = this.quotes.find((quote) => text.startsWith(quote, at));
        if (opened === undefined) continue;
        this.quote = opened;
        at += opened.length - 1;
      }
    }
    return text.length;
  }
}

/** True if the text ends in the middle of the quote. */
function isBegun(quote: string, text: string, at: number): boolean {
  return text.length - at < quote.length && quote.startsWith(text.slice(at));
}
