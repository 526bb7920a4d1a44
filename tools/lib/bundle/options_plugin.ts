// Removes the texts of the table of options (src/engine/options.ts) from bundles for browsers, which show those of
// src/words. Saves each about 1 KB gzipped.

import type { Plugin } from 'vite';

const TABLE = '/src/engine/options.ts';
/** Properties of an option that no bundle reads, and those that pages alone read. */
const TEXTS = ['help', 'label', 'placeholder'];
const OF_SETTINGS = ['name', 'slider', 'isApiOnly'];

interface Node {
  type: string;
  start: number;
  end: number;
  key: { name?: string };
  value: Node;
}

interface Edit {
  start: number;
  end: number;
  text: string;
}

/** The edits that remove the texts: whole properties, and the description of each choice. */
function editsOf(node: unknown, code: string, removed: readonly string[], inChoices = false): Edit[] {
  if (typeof node !== 'object' || node === null) return [];
  const { type, start, end, key, value } = node as Node;
  const isProperty = type === 'Property';
  if (isProperty && removed.includes(key.name ?? '')) {
    const comma = /^\s*,/.exec(code.slice(end))?.[0].length ?? 0;
    return [{ start, end: end + comma, text: '' }];
  }
  if (isProperty && inChoices && value.type === 'Literal') return [{ start: value.start, end: value.end, text: "''" }];
  const isChoices = inChoices || (isProperty && key.name === 'choices');
  return Object.values(node).flatMap((child) => editsOf(child, code, removed, isChoices));
}

/** @param isWorker whether the bundle shows no settings either */
export function optionsPlugin(isWorker: boolean): Plugin {
  const removed = isWorker ? [...TEXTS, ...OF_SETTINGS] : TEXTS;
  return {
    name: 'options-without-words',
    transform(code, id) {
      if (!id.endsWith(TABLE)) return null;
      const edits = editsOf(this.parse(code), code, removed).sort((a, b) => b.start - a.start);
      return edits.reduce((left, { start, end, text }) => left.slice(0, start) + text + left.slice(end), code);
    },
  };
}
