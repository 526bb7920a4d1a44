// The bytes of control tokens in a constraint. UTF-8 never has them, so that no document can hold one: each named
// control token has a byte of its own, and all other tokens that are no text share one.

/** The byte of every token that is no text and has no byte of its own. */
export const NO_TEXT = 0xff;
/** The byte of the first named control token. */
export const FIRST = 0xf5;
/** Most control tokens with a byte of their own. */
export const MOST_CONTROLS = NO_TEXT - FIRST;

/** The last byte that a text may have. */
export const LAST_OF_TEXT = FIRST - 1;
