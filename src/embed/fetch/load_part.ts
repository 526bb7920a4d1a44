// Files beside the script tag that hand over a part of the chat when it is needed.

import type { Handed } from './hand_over';
import { addScriptBeside } from './own_script';

/** Runs a file beside the script tag, and returns what it hands over. */
export function loadPart<Part>(file: string): Promise<Part> {
  return new Promise((resolve, reject) => {
    const script: (HTMLScriptElement & Handed) | null = addScriptBeside(file, (failed) => {
      if (failed === null && script?.vivacePart) resolve(script.vivacePart as Part);
      else reject(new Error(`${failed ?? file} could not be loaded.`));
    });
    if (!script) reject(new Error(`${file} has no address.`));
  });
}
