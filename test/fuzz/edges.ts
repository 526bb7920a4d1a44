// Values that break loaders: lengths near 2^32, 2^53 and 2^64, numbers that are none, texts that are code elsewhere.

/** Numbers as JSON text; some are invalid JSON. */
export const EDGE_NUMBERS: readonly string[] = [
  ...['0', '-0', '-1', '1', '2', '3', '8', '31', '32', '33', '64', '255', '256', '65536', '0.5', '1.5', '1e-9'],
  ...['2147483647', '2147483648', '4294967295', '4294967296', '4294967297', '4294967328', '1099511627776'],
  ...['9007199254740991', '9007199254740992', '9007199254740993', '9223372036854775807', '9223372036854775808'],
  ...['18446744073709551584', '18446744073709551615', '18446744073709551616', '1e19', '1e308', '-1e308', '1e309'],
  ...['1e-320', '-1e400', '1e99999999999', '0.1e-1000', '5e-324', `1${'0'.repeat(400)}`],
  ...['NaN', 'Infinity', '-Infinity', '+1', '01', '.5', '0x10', '1n'],
];

/** Lengths as a u64 of a binary header. */
export const EDGE_LENGTHS: readonly bigint[] = [0, 1, 7, 8, 31, 32, 33, 255, 4096, 65_535, 65_536, 65_537, 1e8, 1e8 + 1]
  .map(BigInt)
  .concat(
    [31n, 32n, 40n, 52n, 53n, 61n, 62n, 63n].flatMap((bits) => [2n ** bits - 1n, 2n ** bits, 2n ** bits + 1n]),
    [2n ** 53n - 32n, 2n ** 63n - 32n, 2n ** 64n - 32n, 2n ** 64n - 8n, 2n ** 64n - 1n],
  );

export const NASTY_NAMES: readonly string[] = [
  ...['', ' ', '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'length'],
  ...['0', '-1', '4294967295', '../../etc/passwd', 'a/b', 'C:\\x', 'x\0y', '\ufeff', '\u202e', '\ud800', '\udc00x'],
  ...['NaN', 'null', 'true', '<unk>', '<s>', '<|end|>', '\u2581', 'Ġ', '<0x0A>', '{{', '{% for', '(a+)+$', '[', '\\'],
];

/** Invalid UTF-8: overlong, cut, a surrogate, past the last code point, a lone continuation. */
export const BAD_UTF8: readonly Uint8Array[] = [
  [0xc0, 0x80],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0x80],
  [0xff, 0xfe],
].map((bytes) => Uint8Array.from(bytes));
