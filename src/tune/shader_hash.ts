import { sourceHash } from './source_hash';

/** Every source that a sibling is compiled from, whoever imports it. */
const sources: Record<string, string> = import.meta.glob(
  ['../../shaders/attention/*.wgsl', '../../shaders/lib/*.wgsl'],
  { query: '?raw', import: 'default', eager: true },
);

/** Tells measurements of these shaders from measurements of others. A build has the value, not the sources. */
export function attentionShaderHash(): string {
  return sourceHash(sources);
}
