// TeX to a small tree of MathML that holds nothing but listed elements, attributes and styles, whatever the library
// makes of a text. Loaded when math appears (parts.ts). No DOM here.

import temml from 'temml';

/** An element of MathML. Children are elements and texts. */
export interface MathNode {
  name: string;
  attributes: [name: string, value: string][];
  styles: [name: string, value: string][];
  classes: string[];
  children: (MathNode | string)[];
}

/** Letters of one formula. */
const MAX_LETTERS = 4000;
const MAX_NODES = 3000;
const MAX_DEPTH = 60;
const MAX_EXPANSIONS = 300;
/** The largest sizes that a formula may ask for: in em, and in points. */
const MAX_SIZE: [number, number] = [20, 200];
/** Definitions could multiply a short text without end, and answers do not need them. */
const DEFINES =
  /\\(?:def|gdef|edef|xdef|newcommand|renewcommand|providecommand|let|futurelet|global|long|csname|char)(?![a-zA-Z])/;
/** Commands that the library reads or builds several times: within one another their time doubles with each. */
const OF_ONE = '(?:ce|pu|equilibrium(?:Left|Right)|(?:math)?llap)(?![a-zA-Z])';
const OF_TWO = 'cancelto(?![a-zA-Z])';
const REPEATED = new RegExp(`\\\\(?:${OF_ONE}|${OF_TWO})`, 'g');
const MAX_REPEATED = 4;
/** An argument that holds no such command. */
const PLAIN = `\\{(?:[^{}$%\\\\]|\\\\(?!${OF_ONE}|${OF_TWO})[a-zA-Z]|\\{[^{}$%\\\\]*\\})*\\}`;
const LEAF = new RegExp(`\\\\(?:${OF_ONE}|${OF_TWO}${PLAIN})${PLAIN}`, 'g');

const ELEMENTS = new Set(
  'math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mpadded mphantom mstyle menclose'.split(
    ' ',
  ),
);
const ATTRIBUTES = new Set(
  'display displaystyle scriptlevel mathvariant stretchy symmetric largeop movablelimits accent accentunder fence separator form lspace rspace minsize maxsize width height depth voffset linethickness columnalign rowspacing columnspacing columnspan rowspan notation'.split(
    ' ',
  ),
);
const STYLES = new Set(
  'color backgroundColor textAlign paddingLeft paddingRight paddingTop paddingBottom padding borderTop borderBottom borderLeft borderRight border fontWeight fontStyle fontSize verticalAlign mathDepth display'.split(
    ' ',
  ),
);
const VALUE = /^[\w .%#+-]{1,60}$/;
const CLASS = /^tml-[a-z-]{1,20}$/;

/** The library's tree. Groups without a type are fragments. */
interface Made {
  type?: unknown;
  text?: unknown;
  attributes?: Record<string, unknown>;
  style?: Record<string, unknown>;
  classes?: unknown[];
  children?: Made[];
}

/** The formula as MathML, or null for a text that is no formula, or one that would be too large. */
export function readMath(tex: string, isDisplay: boolean): MathNode | null {
  if (tex.length > MAX_LETTERS || DEFINES.test(tex) || tooDeep(tex)) return null;
  if ((tex.replace(LEAF, '').match(REPEATED)?.length ?? 0) > MAX_REPEATED) return null;
  try {
    const made: Made = temml.__renderToMathMLTree(tex, {
      displayMode: isDisplay,
      throwOnError: true,
      trust: false,
      maxSize: MAX_SIZE,
      maxExpand: MAX_EXPANSIONS,
    });
    const [math] = checked(made, { left: MAX_NODES }, 0);
    return typeof math === 'object' && math.name === 'math' ? math : null;
  } catch {
    return null; // the source is shown
  }
}

/** The library calls itself for each group. */
function tooDeep(tex: string): boolean {
  let depth = 0;
  for (const [mark] of tex.matchAll(/[{}]|\\(?:left|right|begin|end)(?![a-zA-Z])/g)) {
    depth += mark === '{' || mark === '\\left' || mark === '\\begin' ? 1 : -1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** @throws Error for a tree with anything that is not listed */
function checked(made: Made, room: { left: number }, depth: number): (MathNode | string)[] {
  room.left -= 1;
  if (room.left < 0 || depth > 4 * MAX_DEPTH) throw new Error('too large');
  if (typeof made.text === 'string') return [made.text];
  const children = (made.children ?? []).flatMap((child) => checked(child, room, depth + 1));
  if (made.type === undefined) return inherit(children, made);
  if (typeof made.type !== 'string' || !ELEMENTS.has(made.type)) throw new Error('not listed');
  return [
    {
      name: made.type,
      attributes: listed(made.attributes, ATTRIBUTES),
      styles: listed(made.style, STYLES),
      classes: (made.classes ?? []).filter((name): name is string => typeof name === 'string' && CLASS.test(name)),
      children,
    },
  ];
}

/** A fragment's styles go to its children. */
function inherit(children: (MathNode | string)[], made: Made): (MathNode | string)[] {
  const styles = listed(made.style, STYLES);
  for (const child of children) if (typeof child === 'object') child.styles.unshift(...styles);
  return children;
}

function listed(given: Record<string, unknown> | undefined, names: ReadonlySet<string>): [string, string][] {
  return Object.entries(given ?? {})
    .map(([name, value]): [string, string] => [name, String(value)])
    .filter(([name, value]) => names.has(name) && VALUE.test(value));
}
