// One file for all that the page loads at once. Without it, each module that a later part uses, too, becomes a file of
// its own: more files to wait for before the first paint, and each compressed alone.

interface Module {
  isEntry: boolean;
  code?: string | null;
  /** Modules that import this one at once, not those that import it when needed. */
  importers: readonly string[];
}

interface Graph {
  getModuleInfo(id: string): Module | null;
}

/** True if an entry reaches the module without a dynamic import. */
function comesAtOnce(id: string, graph: Graph): boolean {
  const reached = new Set([id]);
  for (const each of reached) {
    const module = graph.getModuleInfo(each);
    if (module?.isEntry) return true;
    for (const importer of module?.importers ?? []) reached.add(importer); // a set goes on with what joins it
  }
  return false;
}

/** True for an entry and the scripts that it names: they do something, and nobody imports their file. */
function isScript(id: string, graph: Graph): boolean {
  const isEntry = (each: string) => graph.getModuleInfo(each)?.isEntry ?? false;
  return isEntry(id) || (graph.getModuleInfo(id)?.importers.some(isEntry) ?? false);
}

/** A group of rolldown's `codeSplitting`: the modules that come at once, but for the scripts of the page. */
export function firstFile() {
  return {
    name: (id: string, graph: Graph) => (comesAtOnce(id, graph) && !isScript(id, graph) ? 'first' : null),
  };
}

/** Characters of a module that costs more in a file of its own, for which parts would wait. */
const CRUMB = 400;

/** True for a small module that several others import. */
function isCrumb(id: string, graph: Graph): boolean {
  const { code, importers = [] } = graph.getModuleInfo(id) ?? {};
  return importers.length > 1 && (code?.length ?? CRUMB) < CRUMB;
}

/** A group of rolldown's `codeSplitting`: all that the worker does not import later, and crumbs of its parts. */
export function coreFile() {
  return { name: (id: string, graph: Graph) => (comesAtOnce(id, graph) || isCrumb(id, graph) ? 'core' : null) };
}
