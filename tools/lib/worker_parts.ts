// The worker of the page's build in parts: what a first answer needs in one file, the core, and each module that the
// sources import when it is needed in a file of its own. The core starts from a blob, which has no address that a file
// beside the page could import. So parts import nothing: each is a function of what the core has for it.

import { createHash } from 'node:crypto';
import { parseAst, type Rolldown } from 'vite';

export interface WorkerParts {
  /** The code that a worker begins with. */
  core: string;
  /** Files to put side by side, by name. A name has the hash of its content. */
  parts: Record<string, string>;
}

interface Binding {
  imported?: { name: string };
  local: { name: string };
  exported?: { name: string };
}

interface Node {
  type: string;
  start: number;
  end: number;
  source?: { value?: string; start: number; end: number };
  specifiers?: Binding[];
}

interface Edit {
  start: number;
  end: number;
  text: string;
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8);

/** Where the page says in which folder the parts lie (src/engine/page/own_worker.ts). */
const BASE = 'globalThis.vivaceParts';

/**
 * The loader in the core. A part is of the build of its core, or it is refused. A browser may remember that an import
 * failed, by the address with its fragment: so another try has another fragment.
 */
const loader = (build: string, given: string) =>
  `const vivaceTries={},vivaceLoaded={},vivacePart=n=>vivaceLoaded[n]??=import(${BASE}+n+"#"+(vivaceTries[n]=(vivaceTries[n]??0)+1))` +
  `.then(p=>{if(p.build!=="${build}")throw Error(n);return p.default({${given}},vivacePart)})` +
  `.catch(e=>{delete vivaceLoaded[n];throw e});`;

/** @throws Error where two parts share a module, which must lie in the core (order_plugin) */
export function takeApart(chunks: readonly Rolldown.OutputChunk[]): WorkerParts {
  const [core, more] = chunks.filter(({ name }) => name === 'core');
  if (!core || more) throw new Error('The worker has not one core.');
  const others = chunks.filter((chunk) => chunk !== core && !chunk.isEntry); // the entry only imports the core
  const build = hashOf(chunks.map(({ code }) => code).join());
  const shared = others.find(({ isDynamicEntry }) => !isDynamicEntry);
  if (shared) throw new Error(`Several parts of the worker share ${shared.moduleIds.join(', ')}.`);

  const names = new Map<string, string>();
  const parts: Record<string, string> = {};
  // A part that another one imports comes first, so that its name is known.
  const waiting = new Set(others);
  while (waiting.size > 0) {
    const next = [...waiting].find(({ dynamicImports }) => dynamicImports.every((file) => names.has(file)));
    if (!next) throw new Error('Parts of the worker import each other in a circle.');
    waiting.delete(next);
    const code = partOf(next, core.fileName, build, names);
    const name = `part_${next.name}-${hashOf(code)}.js`;
    names.set(next.fileName, name);
    parts[name] = code;
  }
  return { core: coreOf(core, build, names), parts };
}

const statementsOf = (code: string) => (parseAst(code) as unknown as { body: Node[] }).body;

function coreOf({ code, fileName }: Rolldown.OutputChunk, build: string, names: ReadonlyMap<string, string>): string {
  let given = '';
  const edits = importsOf(code, names);
  for (const { type, start, end, specifiers = [] } of statementsOf(code)) {
    if (type === 'ImportDeclaration') throw new Error(`${fileName} imports a file.`);
    if (type !== 'ExportNamedDeclaration') continue;
    given = specifiers.map(({ exported, local }) => `${exported?.name}:${local.name}`).join();
    edits.push({ start, end, text: '' });
  }
  return loader(build, given) + edited(code, edits);
}

function partOf(
  { code, fileName }: Rolldown.OutputChunk,
  core: string,
  build: string,
  names: ReadonlyMap<string, string>,
): string {
  let taken = '';
  let given = '';
  const edits = importsOf(code, names);
  for (const { type, start, end, source, specifiers = [] } of statementsOf(code)) {
    if (type === 'ImportDeclaration') {
      if (source?.value !== `./${core}`) throw new Error(`${fileName} imports ${source?.value}.`);
      taken = specifiers.map(({ imported, local }) => `${imported?.name}:${local.name}`).join();
    } else if (type === 'ExportNamedDeclaration') {
      given = specifiers.map(({ exported, local }) => `${exported?.name}:${local.name}`).join();
    } else continue;
    edits.push({ start, end, text: '' });
  }
  return `export const build="${build}";export default({${taken}},vivacePart)=>{${edited(code, edits)};return{${given}}};`;
}

/** Each `import("./file.js")` of another part becomes a call of the loader. */
function importsOf(code: string, names: ReadonlyMap<string, string>): Edit[] {
  return [...code.matchAll(/\bimport\(([`"'])\.\/([^`"']+)\1\)/g)].map(({ 0: whole, 2: file = '', index }) => ({
    start: index,
    end: index + whole.length,
    text: `vivacePart("${names.get(file) ?? file}")`,
  }));
}

function edited(code: string, edits: readonly Edit[]): string {
  return [...edits]
    .sort((a, b) => b.start - a.start)
    .reduce((left, { start, end, text }) => left.slice(0, start) + text + left.slice(end), code);
}
