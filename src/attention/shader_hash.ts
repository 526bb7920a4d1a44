/** Every source that a sibling is compiled from, whoever imports it. */
const sources: Record<string, string> = import.meta.glob(
  ['../../shaders/attention/*.wgsl', '../../shaders/lib/*.wgsl'],
  { query: '?raw', import: 'default', eager: true },
);

/** FNV-1a (32 bits, in hexadecimal): tells measurements of these shaders from measurements of others. */
export function attentionShaderHash(): string {
  let hash = 0x811c9dc5;
  for (const text of Object.values(sources)) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(16);
}
