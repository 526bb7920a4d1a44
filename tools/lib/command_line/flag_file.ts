// The file that a flag names, read before a browser starts.

import { readFileSync } from 'node:fs';
import { RunError } from '../browser/blank_page';

/**
 * What `parse` makes of a file's text. A byte order mark, which some editors write, is no part of the text.
 * @throws RunError for a file that is missing or that `parse` refuses
 */
export function readFlagFile<Value>(flag: string, file: string, parse: (text: string) => Value): Value {
  try {
    return parse(new TextDecoder().decode(readFileSync(file)));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RunError({ code: 'invalid-request', message: `${flag} ${file}: ${why}` });
  }
}
