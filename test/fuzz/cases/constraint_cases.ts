// Constraints on an answer: schemas, regular expressions and grammars with changed parts, up to their automata.

import { compileGrammar } from '../../../src/grammar/compile/compile';
import { schemaGrammar } from '../../../src/grammar/schema/json_schema';
import { gbnfGrammar } from '../../../src/grammar/syntax/gbnf';
import { regexGrammar } from '../../../src/grammar/syntax/regex';
import { randomSchema } from '../../grammar/schema/random_schema';
import { randomSource } from '../../random';
import type { Loader } from '../loaders';
import type { Random } from '../random';
import { mutateTree, printTree, treeOf } from './mutate_json';

interface Input {
  kind: 'schema' | 'regex' | 'gbnf';
  text: string;
}

const REGEXES = [
  '^(?:a|b)*c{2,5}[^x-z\\d]+?$',
  '(x+x+)+y|\\u{1f600}.{0,20}',
  '[\\w.+-]+@(?:[a-z\\d-]+\\.)+[a-z]{2,}',
  '(a|b)*a(a|b){9}',
];
const GRAMMARS = [
  'root ::= "[" (item ("," item)*)? "]"\nitem ::= root | [0-9]+ | "\\"" [^"\\\\]* "\\""\n',
  'root ::= expr "=" ws term "\\n"\nexpr ::= term ([-+*/] ws term)*\nterm ::= [a-z]+ ws | "(" expr ")" ws\nws ::= [ \\t]*\n',
  'root ::= a b? c{2,3} # end\na ::= "x" | b\nb ::= ("y" | "z"){1,9}\nc ::= [^a-c\\u00e4]\n',
];
const PIECES = [
  ...'()[]{}|*+?.^$\\-,"#: \n',
  '::=',
  'root',
  '{0,999}',
  '{3,}',
  '[^',
  '(?:',
  '\\u',
  '\\d',
  '* ',
  '\u{1f600}',
];

export const constraintLoader: Loader<Input> = {
  name: 'constraint',
  makeInput(random) {
    if (random.chance(0.7)) {
      const schema = treeOf(randomSchema(randomSource(random.int(2 ** 31))));
      return { kind: 'schema', text: printTree(mutateTree(random, schema)) };
    }
    const kind = random.pick(['regex', 'gbnf'] as const);
    return { kind, text: mutateText(random, random.pick(kind === 'regex' ? REGEXES : GRAMMARS)) };
  },
  prepare({ kind, text }) {
    if (kind === 'regex') return () => compileGrammar(regexGrammar(text));
    if (kind === 'gbnf') return () => compileGrammar(gbnfGrammar(text));
    const schema = parsed(text);
    return () => compileGrammar(schemaGrammar(schema).grammar);
  },
};

/** Whoever asks for a constraint has parsed it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Some pieces more, some letters less, some parts many times. */
function mutateText(random: Random, text: string): string {
  let changed = text;
  for (let n = 1 + random.int(4); n > 0; n--) {
    const [from, to] = [random.int(changed.length), random.int(changed.length)].sort((a, b) => a - b);
    const [before, part, after] = [changed.slice(0, from), changed.slice(from, to), changed.slice(to)];
    const times = random.chance(0.1) ? 2000 : 2;
    changed = random.pick([
      before + random.pick(PIECES) + part + after,
      before + random.pick(PIECES).repeat(times) + part + after,
      before + part.slice(1) + after,
      before + part.repeat(times) + after,
      before + after,
    ]);
  }
  return changed.slice(0, 200_000);
}
