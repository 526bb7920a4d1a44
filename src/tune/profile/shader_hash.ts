// The hash of all shaders. A build replaces this file with the value (tools/lib/bundle/wgsl_plugin), so that it bundles
// no shader twice.

/** The sources of all kernels, of the code that writes shaders itself, and of the defaults that profiles keep. */
const sources: Record<string, string> = import.meta.glob(
  [
    '../../../shaders/**/*.wgsl',
    '!../../../shaders/bench/*.wgsl',
    '../../kernels/step/{tile_state,unrolled}.ts',
    '../../kernels/linear/{matmul,matvec}_plan.ts',
    '../../shared/lanes.ts',
  ],
  { query: '?raw', import: 'default', eager: true },
);

/** FNV-1a, 32 bits, in hexadecimal. */
function sourceHash(texts: readonly string[]): string {
  let hash = 0x811c9dc5;
  for (const text of texts) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(16);
}

/** Tells measurements of these shaders and defaults from measurements of others. */
export function shaderHash(): string {
  return sourceHash(Object.values(sources));
}
