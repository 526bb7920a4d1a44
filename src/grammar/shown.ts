// Untrusted names in messages.

/** A name or a path for a message: quoted, and cut at 80 letters. */
export function shown(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}...` : name);
}
