// Short names for the variables, functions and members of our shaders, for bundles: a sixth of what shaders weigh there. One table
// for all of them, because sources are joined before they are compiled. What TypeScript or WGSL calls by name keeps its name.

/** Given by src/gpu/kernel.ts, which puts it before every source. */
const GIVEN = ['Step', 'step', 'position', 'n_tokens'];
/** Members of what WGSL's own functions answer. */
const RESULT_MEMBERS = ['fract', 'whole', 'exp', 'old_value', 'exchanged'];
/** Words of WGSL that a short name could hit. */
const RESERVED = ['as', 'do', 'fn', 'if', 'in', 'is', 'of', 'or'];

/** A number, or an identifier with the @ that makes it an attribute. */
const WORD = /\d[\w.]*|@?[A-Za-z_]\w*/g;
const FUNCTION = /(@compute[^{]*?)?\bfn ([A-Za-z_]\w*)/g;
const DECLARED = /\b(?:let|const|struct|alias|var(?:<[^>]*>)?) ?([A-Za-z_]\w*)|([A-Za-z_]\w*):/g;
const CALLED = /([A-Za-z_]\w*)\(/g;
/** What stands in angle brackets after var or ptr, and in the brackets of @builtin, is WGSL's. */
const WGSL_ONLY = /(?:\bvar|\bptr)<[^>]*>|@builtin\([^)]*\)/g;

/** Names of at most this many letters stay: there is nothing to win. */
const SHORT = 2;

/** @param {string} name */
const isConstant = (name) => /^[A-Z][A-Z\d_]*$/.test(name);
/** @param {string} name */
const isSwizzle = (name) => /^(?:[xyzw]{1,4}|[rgba]{1,4})$/.test(name);

/**
 * @param {readonly string[]} sources every shader, without comments
 * @returns {ReadonlyMap<string, string>} name -> short name, the most frequent name first
 */
export function shortNames(sources) {
  const text = sources.join('\n');
  const functions = new Set();
  const kept = new Set([...GIVEN, ...RESULT_MEMBERS, 'default']);
  for (const [, entryPoint, name] of text.matchAll(FUNCTION)) (entryPoint ? kept : functions).add(name);
  const declared = new Set(functions);
  for (const [, name, typed] of text.matchAll(DECLARED)) declared.add(name ?? typed);
  // A name that is called, but no function or type of ours, is WGSL's, even where a variable shadows it.
  const types = new Set(Array.from(text.matchAll(/\b(?:struct|alias) ([A-Za-z_]\w*)/g), ([, name]) => name));
  for (const [, name = ''] of text.matchAll(CALLED)) if (!functions.has(name) && !types.has(name)) kept.add(name);
  for (const [words] of text.matchAll(WGSL_ONLY)) for (const [word] of words.matchAll(WORD)) kept.add(word);

  /** @type {Map<string, number>} */
  const uses = new Map();
  for (const [word] of text.matchAll(WORD)) uses.set(word, (uses.get(word) ?? 0) + 1);
  const renamed = [...uses.keys()].filter(
    (name) => declared.has(name) && !kept.has(name) && name.length > SHORT && !isConstant(name) && !isSwizzle(name),
  );
  const taken = new Set([...RESERVED, ...[...uses.keys()].filter((name) => !renamed.includes(name))]);
  const short = freeNames(taken);
  const frequent = renamed.sort((a, b) => (uses.get(b) ?? 0) - (uses.get(a) ?? 0) || (a < b ? -1 : 1));
  return new Map(frequent.map((name) => [name, short.next().value ?? name]));
}

/** a, b, ..., z, then two letters. @param {ReadonlySet<string>} taken */
function* freeNames(taken) {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  for (const first of ['', ...letters]) {
    for (const last of letters) if (!taken.has(first + last) && !isSwizzle(first + last)) yield first + last;
  }
}

/** @param {string} source @param {ReadonlyMap<string, string>} names */
export function renameWords(source, names) {
  return source.replace(WORD, (word) => names.get(word) ?? word);
}
