// The parts of Markdown as files beside the script tag. Without them code stays plain, and math is shown as it was
// written.

import { type MarkdownParts, provideParts } from '../ui/markdown/parts';
import type { Handed } from './hand_over';
import { addScriptBeside } from './own_script';

/** Runs a file beside the script tag, and returns what it hands over. */
function loadPart<Part>(file: string): Promise<Part> {
  return new Promise((resolve, reject) => {
    const script: (HTMLScriptElement & Handed) | null = addScriptBeside(file, (failed) => {
      if (failed === null && script?.vivacePart) resolve(script.vivacePart as Part);
      else reject(new Error(`${failed ?? file} could not be loaded.`));
    });
    if (!script) reject(new Error(`${file} has no address.`));
  });
}

provideParts({
  code: () => loadPart<MarkdownParts['code']>('embed_code.js'),
  math: () => loadPart<MarkdownParts['math']>('embed_math.js'),
});
