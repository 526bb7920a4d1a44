/** FNV-1a (32 bits, in hexadecimal): tells measurements of these sources from measurements of others. */
export function sourceHash(sources: Readonly<Record<string, string>>): string {
  let hash = 0x811c9dc5;
  for (const text of Object.values(sources)) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(16);
}
