// What the build makes of the sources, in memory: the ESM entry with the worker inside it.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { build, type Rolldown } from 'vite';
import { beforeAll, expect, test } from 'vitest';
import { compactWgsl } from '../../tools/lib/wgsl_compact.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');

let bundle = '';

beforeAll(async () => {
  const output = await build({ root: ROOT, mode: 'lib', logLevel: 'warn', build: { write: false } });
  bundle = (output as Rolldown.RolldownOutput[])[0]?.output[0].code ?? '';
});

const shader = (file: string) => readFileSync(path.join(ROOT, 'shaders', file), 'utf8');

/** Where the text begins; it stands there once. */
function placeOf(text: string): number {
  const place = bundle.indexOf(text);
  expect(place).toBeGreaterThan(0);
  expect(bundle.indexOf(text, place + 1)).toBe(-1);
  return place;
}

test('shaders travel once, shortened, side by side', () => {
  const first = compactWgsl(shader('lib/matvec.wgsl'));
  const last = compactWgsl(shader('attention/flash_prefill.wgsl'));
  const between = placeOf(last) - placeOf(first);
  expect(between).toBeGreaterThan(0);
  expect(between).toBeLessThan(64_000); // all shaders together, a fifth of the bundle
});

test('hashes of shaders are values: nothing in the bundle makes them', () => {
  const offsetBasis = readFileSync(path.join(ROOT, 'src/gpu/source_hash.ts'), 'utf8').match(/0x[0-9a-f]{8}/)?.[0];
  expect(Number(offsetBasis)).toBeGreaterThan(0);
  expect(bundle).not.toContain(String(Number(offsetBasis)));
  expect(bundle).not.toContain('shaders/attention/');
});

test('errors keep their names, whatever their classes are called in a bundle', async () => {
  const { VivaceError } = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(bundle)}`);
  expect(VivaceError.name).not.toBe('VivaceError');
  expect(new VivaceError('internal', '').name).toBe('VivaceError');
  expect(new VivaceError('model-fetch', '').name).toBe('ModelFetchError');
});
