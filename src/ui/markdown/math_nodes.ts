// A formula in an answer: its source, until its MathML can take its place. The source stays beside the MathML, out of
// sight, and only it can be selected: what is copied is what the model wrote.

import type { MathNode } from './math_tex';
import { withPart } from './parts';

const MATHML = 'http://www.w3.org/1998/Math/MathML';

export interface Formula {
  tex: string;
  /** The source with its dollars or brackets. */
  source: string;
  isDisplay: boolean;
}

/** @param room the formulas that the answer may still have as MathML */
export function createFormula({ tex, source, isDisplay }: Formula, room: { left: number }): HTMLElement {
  const box = document.createElement('span');
  box.setAttribute('class', isDisplay ? 'math math-display' : 'math');
  const text = box.appendChild(document.createElement('code'));
  text.appendChild(document.createTextNode(source));
  room.left -= 1;
  if (room.left < 0) return box;
  withPart('math', ({ readMath }) => {
    const math = readMath(tex, isDisplay);
    if (!math) return;
    text.setAttribute('class', 'math-source');
    text.setAttribute('aria-hidden', 'true');
    box.appendChild(build(math));
  });
  return box;
}

function build({ name, attributes, styles, classes, children }: MathNode): Element {
  const made = document.createElementNS(MATHML, name) as MathMLElement;
  for (const [attribute, value] of attributes) made.setAttribute(attribute, value);
  for (const [style, value] of styles) Object.assign(made.style, { [style]: value }); // a policy forbids the attribute
  if (classes.length > 0) made.setAttribute('class', classes.join(' '));
  for (const child of children)
    made.appendChild(typeof child === 'string' ? document.createTextNode(child) : build(child));
  return made;
}
