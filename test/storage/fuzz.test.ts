import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VivaceError } from '../../src/errors';
import { parseGguf } from '../../src/storage/gguf';
import { parseSafetensors } from '../../src/storage/safetensors';
import { blobSource } from '../../src/storage/source';
import type { TensorInfo } from '../../src/storage/tensor';
import { cpuMs } from './cpu_time';
import { ramp, T, value, writeGguf } from './write_gguf';
import { writeSafetensors } from './write_safetensors';

const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
const RUNS = 2000;

const gguf = writeGguf({
  keys: [
    ['general.architecture', value.string('llama')],
    ['general.alignment', value.u32(32)],
    ['tokenizer.ggml.tokens', value.strings(['<s>', 'Ġa', 'b'])],
    ['tokenizer.ggml.scores', value.array(T.f32, 3, ramp(12))],
    ['flag', value.bool(1)],
  ],
  tensors: [
    { name: 'a', ne: [4, 2], data: ramp(32) },
    { name: 'b', ne: [32, 2], type: 8, data: ramp(68) },
  ],
});
const safetensors = writeSafetensors(
  { a: { dtype: 'F32', shape: [2, 3], data: ramp(24) }, b: { dtype: 'BF16', shape: [5], data: ramp(10) } },
  { format: 'pt' },
);

type Mutation = { at: number; bytes: Uint8Array; how: 'replace' | 'insert' | 'delete' };

/** Up to three edits at any place, with the bytes that hurt most among them. */
const mutations: fc.Arbitrary<Mutation[]> = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    bytes: fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 1 }),
      fc.uint8Array({ minLength: 2, maxLength: 16 }),
      fc.constantFrom(new Uint8Array(8), new Uint8Array(8).fill(0xff), Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0x80)),
      fc.constantFrom(...['{', '}', '[', '"', '\\', ',', '-1', '1e999', '__proto__'].map((s) => Buffer.from(s))),
    ),
    how: fc.constantFrom('replace', 'replace', 'insert', 'delete'),
  }),
  { minLength: 1, maxLength: 3 },
);

function mutate(file: Uint8Array, edits: Mutation[]): Uint8Array<ArrayBuffer> {
  let bytes = [...file];
  for (const { at, bytes: fresh, how } of edits) {
    const start = Math.floor(at * bytes.length);
    const removed = how === 'insert' ? 0 : fresh.length;
    bytes = [...bytes.slice(0, start), ...(how === 'delete' ? [] : fresh), ...bytes.slice(start + removed)];
  }
  return Uint8Array.from(bytes);
}

/** Accepted tensors must be readable to the last byte; a refusal must be one of ours; both within a second. */
async function check(
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
  parse: (file: ReturnType<typeof blobSource>) => Promise<TensorInfo[]>,
) {
  const start = cpuMs();
  let accepted = true;
  try {
    for (const tensor of await parse(blobSource(name, new Blob([bytes])))) await tensor.read(0, tensor.byteLength);
  } catch (error) {
    accepted = false;
    expect(error).toBeInstanceOf(VivaceError);
  }
  expect(cpuMs() - start).toBeLessThan(1000);
  return accepted;
}

test.each([
  ['gguf', gguf, async (file: ReturnType<typeof blobSource>) => (await parseGguf(file)).tensors],
  ['safetensors', safetensors, parseSafetensors],
] as const)(`%s: ${RUNS} mutated files end in a typed error or in readable tensors`, async (name, valid, parse) => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(mutations, async (edits) => {
      if (await check(name, mutate(valid, edits), parse)) accepted++;
    }),
    { seed: SEED, numRuns: RUNS },
  );
  console.log(`${name}: FUZZ_SEED=${SEED}, ${accepted} of ${RUNS} accepted`);
  expect(await check(name, valid, parse)).toBe(true);
  expect(accepted).toBeLessThan(RUNS);
});
