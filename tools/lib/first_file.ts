// One file for all that the page loads at once. Without it, each module that a later part uses, too, becomes a file of
// its own: more files to wait for before the first paint, and each compressed alone.

interface Module {
  isEntry: boolean;
  /** Modules that import this one at once, not those that import it when needed. */
  importers: readonly string[];
}

interface Graph {
  getModuleInfo(id: string): Module | null;
}

/**
 * A group of rolldown's `codeSplitting`: the modules that an entry reaches without a dynamic import, but for the entry
 * and the scripts that it names. Those do something, and nobody imports their file.
 */
export function firstFile() {
  const isScript = (id: string, of: Graph) => {
    const module = of.getModuleInfo(id);
    return module?.isEntry || module?.importers.some((importer) => of.getModuleInfo(importer)?.isEntry);
  };
  let known = new Map<string, boolean>();
  let graph: Graph | null = null;
  const isFirst = (id: string, of: Graph): boolean => {
    const before = known.get(id);
    if (before !== undefined) return before;
    known.set(id, false); // for circles
    const module = of.getModuleInfo(id);
    const found = module !== null && (module.isEntry || module.importers.some((importer) => isFirst(importer, of)));
    known.set(id, found);
    return found;
  };
  return {
    name(id: string, of: Graph) {
      if (graph !== of) known = new Map();
      graph = of;
      return isFirst(id, of) && !isScript(id, of) ? 'first' : null;
    },
  };
}
