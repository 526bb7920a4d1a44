// How a file beside the script tag gives its part to the script that loads it: on its own script element, so that the
// page's names stay free. The package imports some of these files as modules. A classic script exports nothing, and a
// module has no script element, so these files leave their part in the page as well, under a symbol.

export interface Handed {
  vivacePart?: unknown;
}

const VERSION: string = import.meta.env.VIVACE_VERSION ?? '';

/** The place of a part in the page. The parts of another version have others. */
const placeOf = (name: string) => Symbol.for(`vivace ${VERSION} ${name}`);

const page = globalThis as Record<symbol, unknown>;

/** Hands over the part of the running script. Called once, while it runs first. */
export function handOver(part: unknown): void {
  if (document.currentScript) (document.currentScript as HTMLScriptElement & Handed).vivacePart = part;
}

/** Hands over the part of a file that the package imports, too. */
export function handOverNamed(name: string, part: unknown): void {
  handOver(part);
  page[placeOf(name)] = part;
}

/** The part that an imported file has handed over. */
export const handedOver = (name: string): unknown => page[placeOf(name)];
