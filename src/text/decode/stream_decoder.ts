// Arriving ids to their text. The whole equals `tokenizer.decode` of all ids or, when continuing a text, the part that
// decode would append to it. Half a character waits.

import type { Tokenizer } from '../tokenizer';

export interface StreamDecoder {
  /** The text of the id; often empty. */
  push(id: number): string;
  /** The text of a character that was cut, at the end of the answer. */
  flush(): string;
}

/** `goesOn`: the first space is part of the text. `named`: texts that name the control tokens to show. */
export function createStreamDecoder(tokenizer: Tokenizer, goesOn: boolean, named: string): StreamDecoder {
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
  let dropSpace = goesOn ? false : null; // decided by the first token with text

  return {
    push(id) {
      const bytes = tokenizer.tokenBytes(id);
      if (bytes.length === 0) {
        const name = named === '' ? '' : tokenizer.tokenText(id);
        return name !== '' && named.includes(name) ? utf8.decode() + name : '';
      }
      dropSpace ??= leavesSpaceOut(tokenizer, id, bytes);
      const text = utf8.decode(bytes, { stream: true });
      if (!dropSpace || text === '') return text;
      dropSpace = false;
      return text.slice(1);
    },
    flush: () => utf8.decode(),
  };
}

/** True if a text that begins with this token's space is decoded without the space. */
function leavesSpaceOut(tokenizer: Tokenizer, id: number, bytes: Uint8Array): boolean {
  return bytes[0] === 0x20 && !tokenizer.decode([id]).startsWith(new TextDecoder().decode(bytes));
}
