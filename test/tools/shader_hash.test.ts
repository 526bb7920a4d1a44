// The hash that tells measurements of these shaders from those of others: another for any change of a shader, of the
// code that writes shaders itself, or of the defaults that profiles keep.

import { readFile } from 'node:fs/promises';
import type { Plugin } from 'vite';
import { afterEach, expect, test, vi } from 'vitest';
import { wgslPlugin } from '../../tools/lib/bundle/wgsl_plugin';

vi.mock(import('node:fs/promises'), { spy: true });
afterEach(() => void vi.mocked(readFile).mockReset());

/**
 * The module that a build puts in the place of src/tune/profile/shader_hash.ts, where the file of that name has a change.
 */
async function hashWith(changed: string | null): Promise<string> {
  const { readFile: read } = await vi.importActual<typeof import('node:fs/promises')>('node:fs/promises');
  vi.mocked(readFile).mockImplementation((async (file: string, ...how: ['utf8']) => {
    const text = await read(file, ...how);
    return changed !== null && file.endsWith(changed) ? `${text}\nconst changed = 1;\n` : text;
  }) as unknown as typeof readFile);
  const plugin = wgslPlugin().find(({ name }) => name === 'wgsl') as Plugin & {
    buildStart(): void;
    transform(code: string, id: string): Promise<string | null>;
  };
  plugin.buildStart();
  return String(await plugin.transform('', '/src/tune/profile/shader_hash.ts'));
}

test('a build hashes the shaders, the code that writes shaders, and the defaults of products', async () => {
  const before = await hashWith(null);
  expect(before).toMatch(/^export const shaderHash = \(\) => '[0-9a-f]{8}';$/);
  expect(await hashWith(null)).toBe(before);
  for (const changed of [
    'linear/matvec.wgsl',
    'step/tile_state.ts',
    'step/unrolled.ts',
    'kernels/linear/matvec_plan.ts',
  ])
    expect(await hashWith(changed), changed).not.toBe(before);
  expect(await hashWith('src/kernels/step/step.ts'), 'code that writes none').toBe(before);
});
