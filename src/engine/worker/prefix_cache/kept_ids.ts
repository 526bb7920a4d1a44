// Answers keep the ids that they were generated with. A text can be spelled by other tokens than a tokenizer would
// choose, and where a prompt spells an earlier answer anew, keys and values from there on would be lost. Pure.

import type { Tokenizer } from '../../../text/tokenizer';
import { LEAST_TOKENS, sharedPrefix } from './shared_prefix';

type Spelling = Pick<Tokenizer, 'tokenBytes' | 'isAdded'>;

/** One of two sequences that are read byte by byte. */
class Reader {
  /** The number of ids that were read. */
  at: number;
  private bytes: Uint8Array = new Uint8Array();
  private next = 0;

  constructor(
    private readonly ids: ArrayLike<number>,
    from: number,
    private readonly spelling: Spelling,
  ) {
    this.at = from;
  }

  /** True between two tokens. */
  get isBetween(): boolean {
    return this.next === this.bytes.length;
  }

  get id(): number | undefined {
    return this.ids[this.at];
  }

  /** True if the next token is one that no text stands for, or the end. */
  get isOpaque(): boolean {
    const { id, spelling } = this;
    return id === undefined || spelling.isAdded(id) || spelling.tokenBytes(id).length === 0;
  }

  skip(): void {
    this.at++;
  }

  /** The next byte, or null before an opaque token. */
  read(): number | null {
    if (this.isBetween) {
      if (this.isOpaque) return null;
      this.bytes = this.spelling.tokenBytes(this.ids[this.at++]);
      this.next = 0;
    }
    return this.bytes[this.next++];
  }
}

/**
 * The ids of a prompt, spelled as a branch spells the same text for as long as both agree. Added tokens agree only with
 * themselves: letters that a person typed never become one. The prompt's own ids where little would be won.
 */
export function keptIds(
  ids: Uint32Array<ArrayBuffer>,
  branch: ArrayLike<number>,
  spelling: Spelling,
): Uint32Array<ArrayBuffer> {
  const shared = sharedPrefix(ids, branch);
  const [prompt, known] = [ids, branch].map((each) => new Reader(each, shared, spelling));
  // Both spellings meet again at the last token that they have in common: before it a word may just begin alike.
  let met = { prompt: shared, known: shared };
  for (;;) {
    const isBetween = prompt.isBetween && known.isBetween;
    if (isBetween && known.id === undefined) {
      if (prompt.isOpaque) met = { prompt: prompt.at, known: known.at }; // the answer ends in both
      break;
    }
    if (isBetween && prompt.id === known.id) {
      prompt.skip();
      known.skip();
      met = { prompt: prompt.at, known: known.at };
      continue;
    }
    const byte = prompt.read();
    if (byte === null || byte !== known.read()) break;
  }
  if (met.known - shared < LEAST_TOKENS) return ids;
  const kept = new Uint32Array(met.known + ids.length - met.prompt);
  kept.set(Array.prototype.slice.call(branch, 0, met.known));
  kept.set(ids.subarray(met.prompt), met.known);
  return kept;
}
