// A place in the tokens of a chat template, and the refusals of what stands there.

import type { Token } from './jinja_lexer';
import { fail } from './jinja_values';

export class TokenCursor {
  private at = 0;
  constructor(private readonly tokens: readonly Token[]) {}

  get token(): Token {
    return this.tokens[this.at];
  }

  /** The token after this one. */
  get following(): Token | undefined {
    return this.tokens[this.at + 1];
  }

  next(): Token {
    return this.token.kind === 'end' ? this.token : this.tokens[this.at++];
  }

  /** Whether the next tokens are these marks or names. */
  sees(...texts: string[]): boolean {
    return texts.every((text, i) => {
      const token = this.tokens[this.at + i];
      return token?.text === text && (token.kind === 'mark' || token.kind === 'name');
    });
  }

  skip(...texts: string[]): boolean {
    const seen = this.sees(...texts);
    if (seen) this.at += texts.length;
    return seen;
  }

  need(text: string): void {
    if (!this.skip(text)) fail(`it has ${JSON.stringify(this.token.text.slice(0, 40))} where ${text} is needed.`);
  }

  name(): string {
    const { kind, text } = this.next();
    return kind === 'name' ? text : fail(`it has ${JSON.stringify(text.slice(0, 40))} where a name is needed.`);
  }

  /** Entries between commas up to a closing bracket. */
  until<T>(close: string, entry: () => T): T[] {
    const entries: T[] = [];
    while (!this.skip(close)) {
      entries.push(entry());
      if (!this.skip(',') && !this.sees(close)) this.need(close);
    }
    return entries;
  }

  /** Whether what may be a list ends here. */
  closes(): boolean {
    return [')', '%}', '}}', '='].some((mark) => this.sees(mark));
  }
}
