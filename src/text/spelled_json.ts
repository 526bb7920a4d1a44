// JSON whose numbers keep their spelling: JSON.parse makes 2 of 2.0, and loses digits of integers past 2^53.

/** A number that JavaScript prints in another way. */
export class SpelledNumber {
  constructor(readonly text: string) {}
}

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
/** Begins a text that stands for a number. */
export const MARK = '\0';

/**
 * The value of a JSON text, with SpelledNumber where a number needs it.
 * @throws SyntaxError
 */
export function parseSpelled(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (json.includes('\\u0000')) return value; // it would pass for the mark
  const marked = json.replace(TEXT_OR_NUMBER, (part) =>
    part[0] === '"' || String(Number(part)) === part ? part : JSON.stringify(MARK + part),
  );
  return marked === json
    ? value
    : JSON.parse(marked, (_, item) =>
        typeof item === 'string' && item[0] === MARK ? new SpelledNumber(item.slice(1)) : item,
      );
}

/** JSON text in which a number was a text behind the mark. */
export function withoutMarks(json: string): string {
  return json.replace(/"\\u0000(-?\d[\d.eE+-]*)"/g, '$1');
}
