// The parts of Markdown that come when an answer needs them: colors of code, math, and trees of JSON. Who shows answers
// says once where they come from: chunks of the page (parts_by_import.ts), or the files of the script tag. Without a
// source, or when it fails, code stays plain, and math and JSON are shown as they were written.

import type { startColoring } from './code_modes';
import type { showJson } from './json_view';
import type { readMath } from './math_tex';

/** The exports of the parts' files. */
export interface MarkdownParts {
  code: { startColoring: typeof startColoring };
  math: { readMath: typeof readMath };
  json: { showJson: typeof showJson };
}

export type PartSources = { [K in keyof MarkdownParts]: () => Promise<MarkdownParts[K]> };

/** Milliseconds after which a part that could not be loaded is asked for again. */
const RETRY_MS = 30_000;

let sources: Partial<PartSources> = {};
const loaded: Partial<MarkdownParts> = {};
const loading: { [K in keyof MarkdownParts]?: Promise<void> } = {};

/** Adds to the sources. */
export function provideParts(given: Partial<PartSources>): void {
  sources = { ...sources, ...given };
}

/** Calls `use` with the part: at once if it is here, later if it has to be loaded, and never if it cannot be. */
export function withPart<K extends keyof MarkdownParts>(name: K, use: (part: MarkdownParts[K]) => void): void {
  const part = loaded[name];
  if (part) use(part);
  else {
    loading[name] ??= fetchPart(name);
    void loading[name]?.then(() => loaded[name] && use(loaded[name]));
  }
}

async function fetchPart<K extends keyof MarkdownParts>(name: K): Promise<void> {
  try {
    loaded[name] = await sources[name]?.();
  } catch {
    setTimeout(() => delete loading[name], RETRY_MS); // offline, or a server without the file: text stays plain
  }
}
