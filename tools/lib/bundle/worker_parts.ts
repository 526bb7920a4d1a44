// The worker in parts: what a first answer needs in one text, the core, and each module that the sources import when it
// is needed in a text of its own. The core starts from a blob, which has no address that a file beside the page could
// import. So parts import nothing: each is a function of what the core has for it.

import { createHash } from 'node:crypto';
import { parseAst, type Rolldown } from 'vite';

export interface WorkerParts {
  /** The code that a worker begins with. */
  core: string;
  /** The functions, by name. A name has the hash of its content. */
  parts: Record<string, string>;
}

/** How the core comes by a part: from a file beside it, or as a text that the page hands over. */
export type PartsFrom = 'files' | 'page';

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

/**
 * Gets a part from the folder that the page names (src/engine/page/worker_code/own_worker.ts). A part is of the build
 * of its core, or it is refused. A browser may remember that an import failed, by the address with its fragment: so
 * another try has another fragment.
 */
const fromFiles = (build: string) =>
  `const vivaceTries={},vivaceGet=async n=>{` +
  `const p=await import(globalThis.vivaceParts+n+"#"+(vivaceTries[n]=(vivaceTries[n]??0)+1));` +
  `if(p.build!=="${build}")throw Error(n);return p.default};`;

/**
 * Gets a part from the page, which has it where a bundler has put it (src/engine/page/worker_code/own_worker.ts): from
 * the parts that the worker began with, or as the answer to a message.
 */
const FROM_PAGE =
  `const vivaceGet=async n=>globalThis.vivaceGiven?.[n]??new Promise((done,fail)=>{` +
  `const hear=async({data:d})=>{if(d?.part!==n)return;removeEventListener("message",hear);` +
  `const u=URL.createObjectURL(new Blob(["export default "+d.code],{type:"text/javascript"}));` +
  `try{done((await import(u)).default)}catch(e){fail(e)}URL.revokeObjectURL(u)};` +
  `addEventListener("message",hear);postMessage({part:n})});`;

/**
 * The loader in the core. A part that did not come is asked for again by the next who needs it. What the core gives has
 * a function without parameters, which would hide names of the core.
 */
const loader = (from: PartsFrom, build: string, given: string) =>
  (from === 'files' ? fromFiles(build) : FROM_PAGE) +
  `const vivaceCore=()=>({${given}}),vivaceLoaded={},` +
  `vivacePart=n=>vivaceLoaded[n]??=vivaceGet(n).then(f=>f(vivaceCore(),vivacePart))` +
  `.catch(e=>{delete vivaceLoaded[n];throw e});`;

/** The file of a part. */
const fileOf = (code: string, build: string) => `export const build="${build}";export default ${code};`;

/** Modules that several parts share are a part of their own, which comes before them. */
export function takeApart(chunks: readonly Rolldown.OutputChunk[], from: PartsFrom): WorkerParts {
  const [core, more] = chunks.filter(({ name }) => name === 'core');
  if (!core || more) throw new Error('The worker has not one core.');
  const others = chunks.filter((chunk) => chunk !== core && !chunk.isEntry); // the entry only imports the core
  const build = hashOf(chunks.map(({ code }) => code).join());

  const given = exportsOf(core.code);
  const names = new Map<string, string>();
  const parts: Record<string, string> = {};
  // A part that another one imports comes first, so that its name is known.
  const waiting = new Set(others);
  while (waiting.size > 0) {
    const isKnown = (file: string) => file === core.fileName || names.has(file);
    const next = [...waiting].find(({ imports, dynamicImports }) => [...imports, ...dynamicImports].every(isKnown));
    if (!next) throw new Error('Parts of the worker import each other in a circle.');
    waiting.delete(next);
    const made = partOf(next, core.fileName, given, names);
    const code = from === 'files' ? fileOf(made, build) : made;
    const name = `part_${next.name}-${hashOf(code)}.js`;
    names.set(next.fileName, name);
    parts[name] = code;
  }
  return { core: coreOf(core, from, build, given, names), parts };
}

const statementsOf = (code: string) => (parseAst(code) as unknown as { body: Node[] }).body;

/** The names in the code of what it exports, by the names that others import. */
function exportsOf(code: string): ReadonlyMap<string, string> {
  const exports = statementsOf(code).filter(({ type }) => type === 'ExportNamedDeclaration');
  return new Map(
    exports.flatMap(({ specifiers = [] }) =>
      specifiers.map(({ exported, local }) => [exported?.name ?? '', local.name]),
    ),
  );
}

/** Gives all that others import, by its own names: a list of pairs takes half a kilobyte more. */
function coreOf(
  { code, fileName }: Rolldown.OutputChunk,
  from: PartsFrom,
  build: string,
  given: ReadonlyMap<string, string>,
  names: ReadonlyMap<string, string>,
): string {
  const edits = importsOf(code, names);
  for (const { type, start, end } of statementsOf(code)) {
    if (type === 'ImportDeclaration') throw new Error(`${fileName} imports a file.`);
    if (type === 'ExportNamedDeclaration') edits.push({ start, end, text: '' });
  }
  return loader(from, build, [...new Set(given.values())].sort().join()) + edited(code, edits);
}

function partOf(
  { code, fileName }: Rolldown.OutputChunk,
  core: string,
  ofCore: ReadonlyMap<string, string>,
  names: ReadonlyMap<string, string>,
): string {
  let taken = '';
  let given = '';
  const shared: { bound: string; part: string }[] = [];
  const edits = importsOf(code, names);
  for (const { type, start, end, source, specifiers = [] } of statementsOf(code)) {
    if (type === 'ImportDeclaration') {
      const file = source?.value?.replace('./', '') ?? '';
      const from = names.get(file);
      const bind = (nameOf: (name: string) => string) =>
        specifiers.map(({ imported, local }) => `${nameOf(imported?.name ?? '')}:${local.name}`).join();
      const bound = bind((name) => name);
      if (file === core) taken = bind((name) => ofCore.get(name) ?? name);
      else if (from) shared.push({ bound: `{${bound}}`, part: `vivacePart("${from}")` });
      else throw new Error(`${fileName} imports ${file}.`);
    } else if (type === 'ExportNamedDeclaration') {
      given = specifiers.map(({ exported, local }) => `${exported?.name}:${local.name}`).join();
    } else continue;
    edits.push({ start, end, text: '' });
  }
  const [bounds, parts] = [shared.map(({ bound }) => bound).join(), shared.map(({ part }) => part).join()];
  const waits = parts && `const[${bounds}]=await Promise.all([${parts}]);`;
  return `${waits && 'async'}({${taken}},vivacePart)=>{${waits}${edited(code, edits)};return{${given}}}`;
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
