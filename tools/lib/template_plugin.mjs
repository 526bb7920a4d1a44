// Makes the styles and the markup in templates short, in builds: a style sheet loses its comments and the white space between
// its words, markup its indentation, which is as good as the line break in front of it. What is left becomes ASCII.

const COMMENT = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\/\*[\s\S]*?\*\//g;
const SPACE = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\s*([{};,])\s*|(:)\s+|\s+/g;

/** @param {string} text of a style sheet, or what stands before, between or behind the values in it */
export function compactCss(text) {
  return text
    .replace(COMMENT, (_, quoted) => quoted ?? '')
    .replace(SPACE, (_, quoted, mark, colon) => quoted ?? mark ?? colon ?? ' ') // `a :hover` is not `a:hover`
    .replace(/;}/g, '}');
}

/** @param {string} text of markup */
export function compactMarkup(text) {
  return text.replace(/\n\s+/g, '\n');
}

/** The same text for a tag that reads no raw strings, in ASCII. @param {string} text of a template, as its source has it */
export function escapeTemplate(text) {
  return text.replace(
    /(\\[^\u0080-\uffff])|\\?([\u0080-\uffff])/g,
    (_, kept, unit) => kept ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** @type {Record<string, (text: string) => string>} */
const COMPACT = { css: compactCss, html: compactMarkup, svg: compactMarkup };

/** The texts of all templates that are tagged with one of COMPACT. @param {any} node of a syntax tree @returns {Generator<{ start: number, end: number, tag: string }>} */
function* textsIn(node) {
  if (node === null || typeof node !== 'object') return;
  if (node.type === 'TaggedTemplateExpression' && node.tag.name in COMPACT) {
    for (const { start, end } of node.quasi.quasis) yield { start, end, tag: node.tag.name };
  }
  for (const child of Object.values(node)) yield* textsIn(child);
}

/** @returns {import('vite').Plugin} */
export function templatePlugin() {
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
