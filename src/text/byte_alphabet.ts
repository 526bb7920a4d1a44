// The byte alphabet of byte-level BPE: one printable character per byte (the GPT-2 table).

/** True for bytes that represent themselves: printable Latin-1 without space and soft hyphen. */
function isPrintable(byte: number): boolean {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
}

/** The character of each byte: the byte itself if printable, otherwise the next free character from U+0100 on. */
export const BYTE_TO_CHAR: readonly string[] = (() => {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++));
})();

const CHAR_TO_BYTE: ReadonlyMap<string, number> = new Map(BYTE_TO_CHAR.map((char, byte) => [char, byte]));

const encoder = new TextEncoder();

export function utf8Bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/**
 * Bytes of a byte-level token. A token with a character outside the alphabet counts as plain text, as in the reference.
 */
export function byteLevelBytes(token: string): Uint8Array {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = CHAR_TO_BYTE.get(token[i]);
    if (byte === undefined) return utf8Bytes(token);
    bytes[i] = byte;
  }
  return bytes;
}

/** The token of one raw byte, such as <0x0A>, in vocabularies with byte fallback. */
export function byteToken(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
}

/** The byte of a <0xHH> token, or null for any other token. Requires exactly two capital hexadecimal digits. */
export function byteOfToken(token: string): number | null {
  return /^<0x[0-9A-F]{2}>$/.test(token) ? Number.parseInt(token.slice(3, 5), 16) : null;
}
