// Reasons that a person may read, in English. Each is written once, at its place, as why`...`. The interface finds the
// same words in its tables and says them in its own language (src/words/reasons.ts); a test sees to it that none is
// missing there.

declare const byWhy: unique symbol;

/** A fragment of a sentence, or several behind one another with '; ' between them. */
export type Reason = string & { readonly [byWhy]: true };

export function why(pieces: TemplateStringsArray, ...values: readonly (string | number | null)[]): Reason {
  return String.raw({ raw: pieces }, ...values) as Reason;
}

/** Words of another program, such as a compiler of shaders, or a finished reason. Shown unchanged. */
export const quoted = (text: string) => text as Reason;
