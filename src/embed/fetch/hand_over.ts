// How a file beside the script tag gives its part to the script that loads it: on its own script element, so that the
// page's names stay free.

export interface Handed {
  vivacePart?: unknown;
}

/** Hands over the part of the running script. Called once, while it runs first. */
export function handOver(part: unknown): void {
  if (document.currentScript) (document.currentScript as HTMLScriptElement & Handed).vivacePart = part;
}
