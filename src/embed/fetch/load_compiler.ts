// The compiler of constraints as a file beside the script tag. The build puts this in place of
// engine/page/constraint/load_compiler.ts.

import type * as compiler from '../../engine/compiler';
import { loadPart } from './load_part';

let part: Promise<typeof compiler> | null = null;

export function loadCompiler(): Promise<typeof compiler> {
  part ??= loadPart('embed_constraint.js');
  part.catch(() => {
    part = null; // the next constraint tries again
  });
  return part;
}
