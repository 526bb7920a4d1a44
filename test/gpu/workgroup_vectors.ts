// Writes of components of vectors in workgroup memory. WGSL lets such a write touch the whole vector, so that neighbors
// which write at the same time may lose theirs: on Metal and Direct3D, never here.

const VARIABLE = /var<workgroup> (\w+): ([^;]*);/g;
const ALIAS = /^alias (\w+) = ([^;]*);/gm;

/**
 * `agreed` and `list` of a sampler: one thread writes a vector at a time. `x_words` of the fused step: neighbors do write
 * one vector, and the step is compared with plain ones on each GPU before it is used.
 */
const ALLOWED = new Set(['agreed', 'list', 'x_words']);

/** @throws Error for a shader in which a component of a vector in workgroup memory is written */
export function checkWorkgroupVectors(code: string): void {
  const aliases = new Map([...code.matchAll(ALIAS)].map(([, name, type]) => [name, type]));
  for (const [, name, type] of code.matchAll(VARIABLE)) {
    const depth = vectorDepth(type, aliases);
    if (depth === null || ALLOWED.has(name)) continue;
    for (const { index } of code.matchAll(new RegExp(`\\b${name}\\b`, 'g'))) {
      const written = componentWrite(code, index + name.length, depth);
      if (written !== null) throw new Error(`A component of a vector of ${name} is written: ${name}${written}`);
    }
  }
}

/** The indices in front of a vector of the type, or null where there is none. */
function vectorDepth(type: string, aliases: ReadonlyMap<string, string>, depth = 0): number | null {
  const known = aliases.get(type);
  if (known !== undefined) return vectorDepth(known, aliases, depth);
  const [, element] = /^array<(.*), [^,]*>$/.exec(type) ?? [];
  if (element !== undefined) return vectorDepth(element, aliases, depth + 1);
  return type.startsWith('vec') ? depth : null;
}

/** The text of an assignment to a component behind `depth` indices, or null. */
function componentWrite(code: string, start: number, depth: number): string | null {
  let at = start;
  for (let i = 0; i < depth; i++) at = indexEnd(code, at);
  const end =
    code[at] === '[' ? indexEnd(code, at) : at + (/^\.[xyzwrgba]+/.exec(code.slice(at, at + 5))?.[0].length ?? 0);
  return end > at && /^\s*([-+*/%&|^]|<<|>>)?=(?!=)/.test(code.slice(end, end + 5)) ? code.slice(start, end) : null;
}

/** The end of the brackets that open at `at`, or `at` where none do. */
function indexEnd(code: string, at: number): number {
  if (code[at] !== '[') return at;
  let open = 0;
  for (let i = at; i < code.length; i++) {
    if (code[i] === '[') open++;
    if (code[i] === ']' && --open === 0) return i + 1;
  }
  return code.length;
}
