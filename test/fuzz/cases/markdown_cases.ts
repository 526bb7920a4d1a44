// Markdown of a model: pieces of Markdown and hostile ones, cut anywhere.

import fc from 'fast-check';
import { fakeDocument } from '../../ui/markdown/fake_dom';
import { findUnsafe, piece, render } from '../../ui/markdown/rendered';
import type { Loader } from '../loaders';

const texts = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(''));

interface MarkdownInput {
  text: string;
  /** Letters of each piece that streams in. */
  step: number;
}

/** Renders an answer as the chat does. A case fails, untyped, with a node that is not known to be harmless. */
export const markdownLoader: Loader<MarkdownInput> = {
  name: 'markdown',
  makeInput(random) {
    return { text: random.sample(texts), step: 1 + random.int(5) };
  },
  prepare({ text, step }) {
    const chunks: string[] = [];
    for (let i = 0; i < text.length; i += step) chunks.push(text.slice(i, i + step));
    return () => {
      Object.assign(globalThis, { document: fakeDocument });
      console.assert = () => {}; // the parser reports odd input through it, and continues
      const unsafe = findUnsafe(render(chunks));
      if (unsafe.length > 0) throw new Error(`unsafe nodes: ${unsafe.join(', ')}`);
    };
  },
};
