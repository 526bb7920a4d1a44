// The GGUF parser: valid files in full, and one error per broken rule.

import { describe, expect, test } from 'vitest';
import { ModelFileError, UnsupportedModelError } from '../../../src/errors';
import { parseGguf } from '../../../src/storage/formats/gguf';
import { blobSource } from '../../../src/storage/source/blob_source';
import { cpuMs } from '../../cpu_time';
import { type GgufSpec, type GgufTensor, ramp, T, value, writeGguf } from '../write_gguf';

const source = (bytes: Uint8Array<ArrayBuffer>) => blobSource('test.gguf', new Blob([bytes]));
const parse = (spec: GgufSpec) => parseGguf(source(writeGguf(spec)));
const tensor = (name: string, over: Partial<GgufTensor> = {}): GgufTensor => ({
  name,
  ne: [4, 2],
  data: ramp(32),
  ...over,
});

describe('valid files', () => {
  test('every value type, and a tensor of every dtype in file order', async () => {
    const { metadata, tensors } = await parse({
      keys: [
        ['general.architecture', value.string('llama')],
        ['a.u8', value.u8(255)],
        ['a.u16', value.u16(65535)],
        ['a.u32', value.u32(2 ** 32 - 1)],
        ['a.u64', value.u64(42)],
        ['a.u64.large', value.u64(2n ** 64n - 1n)],
        ['a.f32', value.f32(0.5)],
        ['a.f64', value.f64(1e-5)],
        ['a.bool', value.bool(1)],
        ['a.strings', value.strings(['', '\ufeffĠthe', '<0x0A>'])],
        ['a.i32s', value.array(T.i32, 2, [1, 0, 0, 0, 255, 255, 255, 255])],
        ['a.bools', value.array(T.bool, 2, [0, 1])],
        ['a.u64s', value.array(T.u64, 1, [9, 0, 0, 0, 0, 0, 0, 0])],
        ['__proto__', value.u32(7)],
        ['general.alignment', value.u32(64)],
      ],
      alignment: 64,
      tensors: [
        tensor('f32'),
        tensor('f16', { type: 1, ne: [3, 2, 2], data: ramp(24) }),
        tensor('q8', { type: 8, ne: [64, 2], data: ramp(136) }),
        tensor('q4', { type: 2, ne: [32], data: ramp(18) }),
        tensor('bf16', { type: 30, ne: [2, 1, 1, 2], data: ramp(8) }),
      ],
    });
    expect(metadata.get('general.architecture')).toBe('llama');
    expect(metadata.get('a.u32')).toBe(2 ** 32 - 1);
    expect(metadata.get('a.u64')).toBe(42);
    expect(metadata.get('a.u64.large')).toBe(2n ** 64n - 1n);
    expect(metadata.get('a.f64')).toBe(1e-5);
    expect(metadata.get('a.bool')).toBe(true);
    expect(metadata.get('a.strings')).toEqual(['', '\ufeffĠthe', '<0x0A>']);
    expect(metadata.get('a.i32s')).toEqual(Int32Array.of(1, -1));
    expect(metadata.get('a.bools')).toEqual([false, true]);
    expect(metadata.get('a.u64s')).toEqual([9]);
    expect(metadata.get('__proto__')).toBe(7);
    expect(tensors.map(({ name, dtype, shape, byteLength }) => [name, dtype, shape, byteLength])).toEqual([
      ['f32', 'F32', [2, 4], 32],
      ['f16', 'F16', [2, 2, 3], 24],
      ['q8', 'Q8_0', [2, 64], 136],
      ['q4', 'Q4_0', [32], 18],
      ['bf16', 'BF16', [2, 1, 1, 2], 8],
    ]);
    for (const t of tensors) expect(await t.read(0, t.byteLength)).toEqual(ramp(t.byteLength));
    expect(await tensors[2].read(34, 3)).toEqual(ramp(3, 34));
    await expect(tensors[0].read(30, 3)).rejects.toThrow(ModelFileError);
  });

  test('version 2, no tensors, nothing after the header', async () => {
    const { metadata, tensors } = await parse({ version: 2, keys: [['k', value.bool(0)]] });
    expect([metadata.get('k'), tensors]).toEqual([false, []]);
  });

  test('tensors listed out of order come back in file order; gaps are allowed', async () => {
    const { tensors } = await parse({
      tensors: [tensor('late', { offset: 128, data: ramp(160) }), tensor('early', { offset: 0, data: ramp(32) })],
    });
    expect(tensors.map(({ name }) => name)).toEqual(['early', 'late']);
  });

  test('a vocabulary of 150,000 tokens and 300,000 merges is read quickly', async () => {
    const tokens = Array.from({ length: 150_000 }, (_, i) => `Ġtoken${i}`);
    const merges = Array.from({ length: 300_000 }, (_, i) => `Ġa${i} b`);
    const file = source(
      writeGguf({
        keys: [
          ['tokenizer.ggml.tokens', value.strings(tokens)],
          ['tokenizer.ggml.merges', value.strings(merges)],
        ],
      }),
    );
    const start = cpuMs();
    const { metadata } = await parseGguf(file);
    const ms = cpuMs() - start;
    expect(metadata.get('tokenizer.ggml.tokens')).toEqual(tokens);
    console.log(`450 000 strings in ${ms.toFixed(0)} ms of CPU time`);
    expect(ms).toBeLessThan(10_000);
  });
});

describe('malformed files', () => {
  const long = 'x'.repeat(64);
  const badUtf8 = Uint8Array.of(0x61, 0xff);
  const cases: [string, GgufSpec, RegExp][] = [
    ['wrong magic', { magic: 'GGML' }, /no GGUF file/],
    ['more keys than bytes', { nKeys: 1000 }, /announces 1000 keys/],
    ['2^63 keys', { nKeys: 2n ** 63n }, /past 2\^53/],
    ['keys past the cap', { nKeys: 65_537 }, /at most 65536/],
    ['more tensors than bytes', { nTensors: 1000 }, /announces 1000 tensors/],
    ['tensors past the cap', { nTensors: 65_537 }, /at most 65536/],
    ['an empty key', { keys: [['', value.u32(1)]] }, /key 0 is empty/],
    [
      'a key twice',
      {
        keys: [
          ['k', value.u32(1)],
          ['k', value.u32(2)],
        ],
      },
      /"k" appears twice/,
    ],
    ['a key of 65 537 bytes', { keys: [['k'.repeat(65_537), value.u32(1)]] }, /at most 65536/],
    ['a key of bad UTF-8', { keys: [[badUtf8, value.u32(1)]] }, /key 0 is not valid UTF-8/],
    ['an unknown value type', { keys: [['k', (out) => out.u32(13).u64(0)]] }, /value type 13/],
    ['a boolean of 2', { keys: [['k', value.bool(2)]] }, /boolean of value 2/],
    [
      'a string longer than the file',
      { keys: [['k', (out) => out.u32(T.string).u64(100).raw(ramp(3))]] },
      /3 are left/,
    ],
    ['a string of 17 MB', { keys: [['k', (out) => out.u32(T.string).u64(17e6).raw(ramp(3))]] }, /at most 16777216/],
    ['a string of bad UTF-8', { keys: [['k', value.string(badUtf8)]] }, /not valid UTF-8/],
    ['a token of bad UTF-8', { keys: [['tokens', value.strings(['a', badUtf8])]] }, /"tokens" is not valid UTF-8/],
    ['a nested array', { keys: [['k', value.array(T.array, 1, ramp(32))]] }, /array of arrays/],
    ['an array of an unknown type', { keys: [['k', value.array(99, 1, ramp(32))]] }, /value type 99/],
    ['10 000 000 claimed numbers', { keys: [['k', value.array(T.u32, 10_000_000, ramp(32))]] }, /announces 10000000/],
    ['2^62 claimed numbers', { keys: [['k', value.array(T.u64, 2n ** 62n, ramp(32))]] }, /past 2\^53/],
    ['more strings than bytes', { keys: [['k', value.strings(['a'], 9)]] }, /announces 9 elements/],
    ['alignment as a string', { keys: [['general.alignment', value.string('32')]] }, /must be a u32/],
    ['alignment as u64', { keys: [['general.alignment', value.u64(32)]] }, /must be a u32/],
    ...[0, 3, 2 ** 31, 2 ** 21].map((n): [string, GgufSpec, RegExp] => [
      `alignment ${n}`,
      { keys: [['general.alignment', value.u32(n)]] },
      /power of two/,
    ]),
    ['a tensor without a name', { tensors: [tensor('')] }, /tensor 0 is empty/],
    ['a tensor name of 64 bytes', { tensors: [tensor(long)] }, /at most 63/],
    ['a tensor name of bad UTF-8', { tensors: [{ ...tensor('t'), name: badUtf8 }] }, /not valid UTF-8/],
    ['a tensor twice', { tensors: [tensor('t'), tensor('t')] }, /"t" appears twice/],
    ['0 dimensions', { tensors: [tensor('t', { ne: [] })] }, /0 dimensions/],
    ['5 dimensions', { tensors: [tensor('t', { ne: [1, 1, 1, 1, 1] })] }, /5 dimensions/],
    ['a dimension of 0', { tensors: [tensor('t', { ne: [0, 4] })] }, /dimension of 0/],
    ['a dimension of 2^63', { tensors: [tensor('t', { ne: [2n ** 63n] })] }, /past 2\^53/],
    ['a product past 2^53', { tensors: [tensor('t', { ne: [2 ** 30, 2 ** 30] })] }, /too many elements/],
    [
      'a product that wraps to 0 in 64 bits',
      { tensors: [tensor('t', { ne: [2 ** 32, 2 ** 32] })] },
      /too many elements/,
    ],
    ['rows that are no whole blocks', { tensors: [tensor('t', { type: 8, ne: [16, 4] })] }, /no multiple of 32/],
    ['an offset off the alignment', { tensors: [tensor('t', { offset: 4 })] }, /multiple of the alignment 32/],
    ['an offset of 2^64 - 32', { tensors: [tensor('t', { offset: 2n ** 64n - 32n })] }, /past 2\^53/],
    ['two tensors in one place', { tensors: [tensor('a'), tensor('b', { offset: 0 })] }, /inside the tensor before/],
    ['a tensor past the end', { tensors: [tensor('t', { ne: [4, 3] })] }, /"t" ends at byte 144, the file has 128/],
  ];
  test.each(cases)('%s', async (_, spec, message) => {
    const error = await parse(spec).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ModelFileError);
    expect(String(error)).toMatch(message);
    expect(String(error)).toContain('test.gguf');
  });

  test.each([
    ['version 1', { version: 1 }, /version 1/],
    ['version 4', { version: 4 }, /version 4/],
    ['big-endian', { version: 0x03000000 }, /big-endian/],
    ['IQ4_XS', { tensors: [tensor('blk.0.ffn', { type: 23 })] }, /"blk.0.ffn" is stored as IQ4_XS/],
    ['NVFP4', { tensors: [tensor('t', { type: 40 })] }, /stored as NVFP4/],
    ['Q1_0', { tensors: [tensor('t', { type: 41 })] }, /stored as Q1_0/],
    ['Q2_0', { tensors: [tensor('t', { type: 42 })] }, /stored as Q2_0/],
    ['type 9999', { tensors: [tensor('t', { type: 9999 })] }, /unknown ggml type \(9999\)/],
  ] as [string, GgufSpec, RegExp][])('%s is unsupported', async (_, spec, message) => {
    const error = await parse(spec).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(UnsupportedModelError);
    expect(String(error)).toMatch(message);
  });

  test('a million empty strings are read, five million refused', async () => {
    const empty = (n: number) => source(writeGguf({ keys: [['k', value.array(T.string, n, new Uint8Array(8 * n))]] }));
    const million = empty(1e6);
    const five = empty(5e6);
    const start = cpuMs();
    expect((await parseGguf(million)).metadata.get('k')).toHaveLength(1e6);
    await expect(parseGguf(five)).rejects.toThrow(/at most 1310720/);
    expect(cpuMs() - start).toBeLessThan(20_000);
  });

  test('cut at every byte', async () => {
    const whole = writeGguf({
      keys: [
        ['general.name', value.string('tiny')],
        ['tokens', value.strings(['a', 'b'])],
        ['scores', value.array(T.f32, 2, ramp(8))],
      ],
      tensors: [tensor('a'), tensor('b', { type: 8, ne: [32], data: ramp(34) })],
    });
    await parseGguf(source(whole));
    for (let n = 0; n < whole.length; n++) {
      const error = await parseGguf(source(whole.slice(0, n))).catch((e: unknown) => e);
      expect(error, `cut at ${n}`).toBeInstanceOf(ModelFileError);
    }
  });
});
