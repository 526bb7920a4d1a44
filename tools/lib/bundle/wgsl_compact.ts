// Makes shaders short, the same programs in fewer bytes: comments and white space go, the names that a function
// declares for itself become single letters, and what modules declare and nobody else names becomes a letter and a
// digit. Those change in all files alike: a kernel is joined from several, and from constants whose names stay.

const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|\s+|[A-Za-z_]\w*|0[xX][\da-fA-F.]+(?:[pP][+-]?\d+)?[iufh]?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[iufh]?|./g;
const BLANK = /^(\s|\/\/|\/\*)/;
const WORD = /^[A-Za-z_]/;
const WORDLIKE = /\w/;
const OPERATOR = /^[-+*/%&|^<>=!]$/;
const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** Neither a keyword nor a swizzle has a digit behind one letter; two digits where one does not go round. */
const SHORT = Array.from({ length: 20 }, (_, number) => LETTERS.map((letter) => `${letter}${number}`)).flat();
const CALLABLE = ['fn', 'struct', 'alias'];
const DECLARES = [...CALLABLE, 'const', 'var', 'override'];
const SWIZZLE = /^([xyzw]{1,4}|[rgba]{1,4})$/;

/**
 * Words, numbers and single characters; `spaced` where something blank came before.
 * @param source WGSL
 */
export function tokensOf(source: string) {
  const tokens = [];
  let spaced = false;
  for (const [text] of source.matchAll(TOKEN)) {
    const blank = BLANK.test(text);
    if (!blank) tokens.push({ text, spaced });
    spaced = blank;
  }
  return tokens;
}

export type Tokens = ReturnType<typeof tokensOf>;

/** The functions: [first, last] tokens, from `fn` to the brace that ends the body. */
function functionsOf(tokens: Tokens) {
  const found = [];
  let depth = 0;
  let first = -1;
  for (const [i, { text }] of tokens.entries()) {
    if (text === 'fn') first = i;
    if (text === '{') depth++;
    if (text === '}' && --depth === 0 && first >= 0) {
      found.push([first, i]);
      first = -1;
    }
  }
  return found;
}

/**
 * Parameters and what `let`, `var` and `const` declare, in order.
 * @param body of one function, from `fn`
 */
function localsOf(body: Tokens) {
  const names = new Set<string>();
  let depth = 0; // of braces: 0 is the signature
  for (const [i, { text }] of body.entries()) {
    if (text === '{') depth++;
    if (text === '}') depth--;
    const before = body[i - 1]?.text ?? '';
    const declared = depth === 0 ? body[i + 1]?.text === ':' : ['let', 'var', 'const'].includes(before);
    if (declared && WORD.test(text)) names.add(text);
  }
  return names;
}

/** Neither a member nor the name of a built-in value. */
function isName(tokens: Tokens, i: number) {
  return WORD.test(tokens[i].text) && tokens[i - 1]?.text !== '.' && tokens[i - 2]?.text !== 'builtin';
}

/** @param shared names of the module: a local that hides one stays as it is */
function renameLocals(tokens: Tokens, shared: Set<string>) {
  for (const [first, last] of functionsOf(tokens)) {
    const body = tokens.slice(first, last + 1);
    const locals = [...localsOf(body)].filter((name) => !shared.has(name));
    const others = new Set(body.map(({ text }) => text).filter((text) => !locals.includes(text)));
    const free = LETTERS.filter((letter) => !others.has(letter));
    const short = new Map(locals.map((name, i) => [name, free[i] ?? name]));
    for (const [i, { text }] of body.entries()) {
      if (isName(body, i)) tokens[first + i].text = short.get(text) ?? text;
    }
  }
}

/** The names outside of all functions. */
function moduleNames(tokens: Tokens) {
  const names = new Set<string>();
  let next = 0;
  for (const [first, last] of [...functionsOf(tokens), [tokens.length, tokens.length]]) {
    for (const { text } of tokens.slice(next, first + 2)) names.add(text); // `fn` and its name, too
    next = last + 1;
  }
  return names;
}

/** A name that these tokens declare at `i`, of a module, a member, a parameter or a local. */
function isDeclared(tokens: Tokens, i: number) {
  const before = tokens[i - 1]?.text ?? '';
  const after = tokens[i + 1]?.text;
  return DECLARES.includes(before) || (after === ':' && ['{', ',', '>', '('].includes(before));
}

/** A name of the language: of an attribute, a built-in value, or a function that no file declares. */
function isForeign(tokens: Tokens, i: number, callable: Set<string>) {
  if (tokens[i - 1]?.text === '@' || tokens[i - 2]?.text === 'builtin') return true;
  return tokens[i + 1]?.text === '(' && !callable.has(tokens[i].text);
}

/**
 * What becomes of the names that the shaders declare, the same in every file.
 * @param sources WGSL of all files that may be joined
 * @param others what is joined with them or names what they declare: the names in there stay
 * @returns for `compactWgsl`
 */
export function shortNames(sources: string[], others: string[]): Map<string, string> {
  const files = sources.map(tokensOf);
  const words = new Set(files.flat().map(({ text }) => text));
  const kept = new Set(others.flatMap((text) => text.match(/\w+/g) ?? []));
  const named = (is: (tokens: Tokens, i: number) => boolean) =>
    new Set(files.flatMap((tokens) => tokens.filter((_, i) => is(tokens, i)).map(({ text }) => text)));
  const callable = named((tokens, i) => CALLABLE.includes(tokens[i - 1]?.text ?? ''));
  const foreign = named((tokens, i) => isForeign(tokens, i, callable));
  const stays = (name: string) => kept.has(name) || foreign.has(name) || SWIZZLE.test(name);
  const long = [...named(isDeclared)].filter((name) => name.length > 2 && !stays(name));
  const free = SHORT.filter((name) => !words.has(name) && !kept.has(name));
  return new Map(long.map((name, i) => [name, free[i] ?? name]));
}

/**
 * @param source WGSL
 * @param names see `shortNames`
 */
export function compactWgsl(source: string, names: ReadonlyMap<string, string> = new Map()) {
  const tokens = tokensOf(source);
  renameLocals(tokens, moduleNames(tokens));
  for (const token of tokens) token.text = names.get(token.text) ?? token.text;
  let out = '';
  let last = '';
  for (const { text, spaced } of tokens) {
    const words = WORDLIKE.test(last) && WORDLIKE.test(text[0] ?? '');
    const operators = spaced && OPERATOR.test(last) && OPERATOR.test(text); // `a - -b` must not become `a--b`
    out += words || operators ? ` ${text}` : text;
    last = text.at(-1) ?? '';
  }
  return out;
}
