// What an answer holds beside its text. Types only.

/** A part of an answer that is not its text. */
export type AnswerPart =
  | { type: 'reasoning'; text: string }
  | {
      /** A part of a call. The first of each `index` has `id` and `name`. The `arguments`, joined, are JSON text. */
      type: 'tool-call';
      /** The number of the call in the answer, from 0. */
      index: number;
      id?: string;
      name?: string;
      arguments: string;
    }
  /** A call whose arguments are no JSON object, or whose tool is unknown. `text`: as the model wrote it. */
  | { type: 'tool-call-error'; index: number; message: string; text: string };
