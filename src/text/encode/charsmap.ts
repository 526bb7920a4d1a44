// SentencePiece's precompiled character map: a table from texts to normalized forms, stored as a double array over
// UTF-8 bytes (darts-clone) followed by the forms, each with a terminating zero byte.
// https://github.com/google/sentencepiece

import { TokenizerError } from '../../errors';
import { utf8Bytes } from '../byte_alphabet';

const MAX_BYTES = 1 << 22; // published maps have 240,000
const PIECE = 512; // UTF-16 units segmented at once
const LONGEST_GROUP = 6; // bytes of a grapheme that is looked up as a whole

const segmenter = typeof Intl.Segmenter === 'function' ? new Intl.Segmenter('en', { granularity: 'grapheme' }) : null;

/** The map as a function on texts. `encoded` is base64 from tokenizer.json; an empty map leaves the text as it is. */
export function createCharsmap(encoded: unknown): (text: string) => string {
  if (encoded === null || encoded === undefined) return (text) => text;
  const bytes = decodeBase64(encoded);
  const size = bytes.length >= 4 ? new DataView(bytes.buffer).getUint32(0, true) : 0;
  if (size % 4 !== 0 || size > bytes.length - 4) {
    throw new TokenizerError(`The tokenizer's character map has ${bytes.length} bytes and asks for ${size} of them.`);
  }
  const units = new Uint32Array(bytes.slice(4, 4 + size).buffer);
  const forms = bytes.subarray(4 + size);

  /** The form of the shortest entry that the text begins with, as the reference chooses, or null. */
  function lookUp(text: string): string | null {
    let at = offset(units[0] ?? 0);
    for (const byte of utf8Bytes(text)) {
      if (byte === 0) return null;
      at ^= byte;
      const unit = units[at];
      if (unit === undefined || (unit & 0x800000ff) >>> 0 !== byte) return null;
      at ^= offset(unit);
      if ((unit >>> 8) & 1) return form((units[at] ?? 0) & 0x7fffffff);
    }
    return null;
  }

  function form(start: number): string | null {
    const end = forms.indexOf(0, start);
    return start < forms.length ? new TextDecoder().decode(forms.subarray(start, end < 0 ? forms.length : end)) : null;
  }

  const known = new Map<string, string>(); // by character or grapheme of at most six bytes
  const mapped = (text: string): string | null => {
    const seen = known.get(text);
    if (seen !== undefined) return seen;
    const found = lookUp(text);
    if (found !== null && known.size < 10_000) known.set(text, found);
    return found;
  };

  return (text) => {
    let out = '';
    for (const group of graphemes(text)) {
      const whole = group.length < LONGEST_GROUP && utf8Bytes(group).length < LONGEST_GROUP ? mapped(group) : null;
      if (whole !== null) out += whole;
      else for (const char of group) out += mapped(char) ?? char;
    }
    return out;
  };
}

/** Offset of a unit's children: 21 bits, times eight if the unit's flag is set. */
function offset(unit: number): number {
  return (unit >>> 10) << ((unit & 0x200) >>> 6);
}

/** The graphemes of a text, segmented in pieces, since Intl.Segmenter takes longer per grapheme in longer texts. */
function* graphemes(text: string): Generator<string> {
  if (!segmenter) return yield* text;
  for (let at = 0; at < text.length; ) {
    let last = '';
    for (const { segment } of segmenter.segment(text.slice(at, at + PIECE))) {
      if (last !== '') yield last;
      at += last.length;
      last = segment;
    }
    // The last grapheme may continue in the next piece, unless it fills this one.
    if (at + last.length < text.length && last.length < PIECE / 2) continue;
    yield last;
    at += last.length;
  }
}

function decodeBase64(encoded: unknown): Uint8Array<ArrayBuffer> {
  if (typeof encoded !== 'string' || encoded.length > MAX_BYTES * 1.4) {
    throw new TokenizerError(`The tokenizer's character map is not a text of at most ${MAX_BYTES} bytes.`);
  }
  try {
    return Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
  } catch (cause) {
    throw new TokenizerError("The tokenizer's character map is not base64.", { cause });
  }
}
