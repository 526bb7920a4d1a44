// Strings that match a pattern and have a bounded number of letters: the program of the pattern, each instruction with
// the letters counted so far.

import { Program, SPLIT } from '../compile/program';
import { call, EMPTY, type Node, type ScanWay, sequence } from '../grammar';
import { Letters } from '../syntax/letters';
import { parseRegex } from '../syntax/regex';
import type { SchemaContext } from './context';
import { QUOTE } from './json_text';

const WORK_PER_STATE = 40;

/** @param max null: without an end */
export function boundedPattern(
  { text, book: { fuel } }: SchemaContext,
  pattern: string,
  min: number,
  max: number | null,
  path: string,
): Node {
  const letters: Node[] = [];
  const numbered = new Letters((set) => call(letters.push(text.characterOf(set)) - 1), fuel);
  const program = new Program([], path, fuel);
  const { op, next, value } = program;
  const begin = program.write(parseRegex(pattern, numbered, path, 'search'), 0);
  const ids = new Map<number, number>();
  const way = (node: Node, pc: number, count: number): ScanWay => {
    const key = count * op.length + pc;
    const id = ids.get(key) ?? ids.size;
    ids.set(key, id);
    return { node, next: id };
  };
  way(EMPTY, begin, 0);
  const states: ScanWay[][] = [];
  for (const key of ids.keys()) {
    fuel.spend(WORK_PER_STATE);
    const pc = key % op.length;
    const count = (key - pc) / op.length;
    let ways: ScanWay[] = [];
    if (op[pc] === SPLIT) ways = [way(EMPTY, next[pc], count), way(EMPTY, value[pc], count)];
    else if (pc === 0) ways = count < min ? [] : [{ node: QUOTE, next: null }];
    else if (count !== max) ways = [way(letters[value[pc]], next[pc], Math.min(count + 1, max ?? min))];
    states.push(ways);
  }
  return sequence(QUOTE, { kind: 'scan', states });
}
