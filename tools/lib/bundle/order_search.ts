// Searches an order of modules in which a bundle is smaller. Pure.

/** The modules of a bundle, by id. */
export interface BundledModules {
  entry: string;
  /** In the order of the bundle. */
  ids: readonly string[];
  /** What each module imports at once, modules of other bundles included. */
  imports: ReadonlyMap<string, readonly string[]>;
}

/** Bytes that a name has to save to be worth its line. */
const NAME_BYTES = 3;
/** Most neighbors that move together. */
const MOST_MOVED = 3;

/** The order of the modules where those named first are imported first: each stands behind all that it imports. */
export function orderWith({ entry, ids, imports }: BundledModules, first: readonly string[]): string[] {
  const here = new Set(ids);
  const seen = new Set<string>();
  const order: string[] = [];
  const add = (id: string) => {
    if (seen.has(id)) return;
    seen.add(id);
    for (const imported of imports.get(id) ?? []) add(imported);
    if (here.has(id)) order.push(id);
  };
  for (const id of [...first, entry, ...ids]) add(id);
  return order;
}

/** The modules that the entry imports at once, and those that they import: no other one can come first. */
function reachedFrom({ entry, imports }: BundledModules): ReadonlySet<string> {
  const reached = new Set([entry]);
  for (const id of reached) for (const imported of imports.get(id) ?? []) reached.add(imported);
  return reached;
}

/**
 * Changes a list of first modules at random, and keeps what is smaller. Names only what the entry imports at once.
 * @param first where to begin; neighbors of `block` stay together
 * @param sizeOf bytes of the modules in some order
 */
export function searchOrder(
  modules: BundledModules,
  first: readonly string[],
  block: readonly string[],
  sizeOf: (order: readonly string[]) => number,
  { tries, random, onBetter }: { tries: number; random: () => number; onBetter?: (size: number) => void },
): { first: string[]; size: number } {
  const pick = (n: number) => Math.floor(random() * n);
  const reached = reachedFrom(modules);
  const together = new Set(block.filter((id) => reached.has(id)));
  const [mark] = together;
  const isVirtual = (id: string) => id.startsWith('\0'); // of the bundler, which nothing can import by name
  const canMove = (id: string) => reached.has(id) && id !== modules.entry && !together.has(id) && !isVirtual(id);
  const others = modules.ids.filter(canMove);
  /** The block is one name while names move. */
  const whole = (names: readonly string[]) => names.flatMap((id) => (id === mark ? [...together] : [id]));
  const measure = (names: readonly string[]) => {
    const size = sizeOf(orderWith(modules, whole(names)));
    return { names, size, cost: size + NAME_BYTES * names.length };
  };
  let best = measure(first.filter((id) => id === mark || canMove(id)));
  for (let i = 0; i < tries; i++) {
    const names = [...best.names];
    const kind = random();
    if (kind < 0.6) {
      const id = others[pick(others.length)] as string;
      if (names.includes(id)) names.splice(names.indexOf(id), 1);
      names.splice(pick(names.length + 1), 0, id);
    } else if (kind < 0.85) {
      const moved = names.splice(pick(names.length), 1 + pick(MOST_MOVED));
      names.splice(pick(names.length + 1), 0, ...moved);
    } else if (names.length > 0) {
      const at = pick(names.length);
      if (names[at] !== mark) names.splice(at, 1);
    }
    const found = measure(names);
    if (found.cost >= best.cost) continue;
    best = found;
    onBetter?.(found.size);
  }
  return { first: whole(best.names), size: best.size };
}
