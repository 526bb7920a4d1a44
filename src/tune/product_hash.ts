import { sourceHash } from './source_hash';

/** Every source that a product is compiled from, whoever imports it. */
const sources: Record<string, string> = import.meta.glob(['../../shaders/kernels/*.wgsl', '../../shaders/lib/*.wgsl'], {
  query: '?raw',
  import: 'default',
  eager: true,
});

export function productShaderHash(): string {
  return sourceHash(sources);
}
