// What this build's service worker keeps, inserted by the build (tools/lib/bundle/shell_worker.ts).

/** The name of the build: a hash of its files. */
export const BUILD: string = '';
/** Paths below the page's address, with hashes as `fetch` takes them. '' is the page itself. */
export const FILES: Readonly<Record<string, string>> = {};
/** Files that whoever hosts the page may replace: asked of the network first, and kept without a hash. */
export const REPLACEABLE: readonly string[] = [];
