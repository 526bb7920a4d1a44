// Makes the styles and the markup in templates short, in builds: a style sheet loses its comments and the white space
// between its words, markup its indentation, which is as good as the line break in front of it. What is left becomes
// ASCII.

import type { Plugin } from 'vite';

const COMMENT = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\/\*[\s\S]*?\*\//g;
const SPACE = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\s*([{};,])\s*|(:)\s+|\s+/g;

/** @param text of a style sheet, or what stands before, between or behind the values in it */
export function compactCss(text: string) {
  return text
    .replace(COMMENT, (_, quoted) => quoted ?? '')
    .replace(SPACE, (_, quoted, mark, colon) => quoted ?? mark ?? colon ?? ' ') // `a :hover` is not `a:hover`
    .replace(/;}/g, '}');
}

/** @param text of markup */
export function compactMarkup(text: string) {
  return text.replace(/\n\s+/g, '\n');
}

/**
 * The same text for a tag that reads no raw strings, in ASCII.
 * @param text of a template, as its source has it
 */
function escapeTemplate(text: string) {
  return text.replace(
    /(\\[^\u0080-\uffff])|\\?([\u0080-\uffff])/g,
    (_, kept, unit) => kept ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const COMPACT: Record<string, (text: string) => string> = { css: compactCss, html: compactMarkup, svg: compactMarkup };

interface TaggedTemplate {
  tag: { name?: string };
  quasi: { quasis: { start: number; end: number }[] };
}

function isTagged(node: object): node is TaggedTemplate {
  return 'type' in node && node.type === 'TaggedTemplateExpression';
}

/** The texts of all templates below a node of a syntax tree that are tagged with a name of COMPACT. */
function* textsIn(node: unknown): Generator<{ start: number; end: number; tag: string }> {
  if (node === null || typeof node !== 'object') return;
  if (isTagged(node) && node.tag.name !== undefined && Object.hasOwn(COMPACT, node.tag.name)) {
    for (const { start, end } of node.quasi.quasis) yield { start, end, tag: node.tag.name };
  }
  for (const child of Object.values(node)) yield* textsIn(child);
}

export function templatePlugin(): Plugin {
  return {
    name: 'template',
    apply: 'build',
    transform: {
      order: 'post', // behind TypeScript
      filter: { id: /\/src\/.*\.ts$/, code: /\b(css|html|svg)`/ },
      handler(code) {
        let short = code;
        for (const { start, end, tag } of [...textsIn(this.parse(code))].sort((a, b) => b.start - a.start)) {
          const text = escapeTemplate(COMPACT[tag]?.(short.slice(start, end)) ?? '');
          short = short.slice(0, start) + text + short.slice(end);
        }
        return { code: short, map: null };
      },
    },
  };
}
