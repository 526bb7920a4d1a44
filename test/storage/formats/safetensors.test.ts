// The safetensors parser: valid files in full, and one error per broken rule.

import { describe, expect, test } from 'vitest';
import { ModelFileError, UnsupportedModelError } from '../../../src/errors';
import { DTYPE, parseSafetensors } from '../../../src/storage/formats/safetensors';
import { blobSource } from '../../../src/storage/source/blob_source';
import { ramp } from '../write_gguf';
import { withHeader, writeSafetensors } from '../write_safetensors';

const parse = (bytes: Uint8Array<ArrayBuffer>) => parseSafetensors(blobSource('test.safetensors', new Blob([bytes])));
const entry = (begin: number, end: number, dtype = 'F32', shape = `[${(end - begin) / 4}]`) =>
  `{"dtype":"${dtype}","shape":${shape},"data_offsets":[${begin},${end}]}`;

describe('valid files', () => {
  test('tensors of every dtype come back in file order with their bytes', async () => {
    const tensors = await parse(
      writeSafetensors(
        {
          z: { dtype: 'F32', shape: [2, 2], data: ramp(16) },
          a: { dtype: 'BF16', shape: [3], data: ramp(6) },
          scalar: { dtype: 'F16', shape: [], data: ramp(2) },
          empty: { dtype: 'F16', shape: [0, 4], data: ramp(0) },
          __proto__x: { dtype: 'F32', shape: [1], data: ramp(4) },
        },
        { format: 'pt' },
      ),
    );
    expect(tensors.map(({ name, dtype, shape, byteLength }) => [name, dtype, shape, byteLength])).toEqual([
      ['z', 'F32', [2, 2], 16],
      ['a', 'BF16', [3], 6],
      ['scalar', 'F16', [], 2],
      ['empty', 'F16', [0, 4], 0],
      ['__proto__x', 'F32', [1], 4],
    ]);
    for (const t of tensors) expect(await t.read(0, t.byteLength)).toEqual(ramp(t.byteLength));
    expect(await tensors[0].read(5, 2)).toEqual(Uint8Array.of(5, 6));
    await expect(tensors[0].read(0, 17)).rejects.toThrow(ModelFileError);
  });

  test('trailing spaces, no tensors, and names that break plain objects', async () => {
    expect(await parse(withHeader('{}      '))).toEqual([]);
    const odd = `{"__proto__":${entry(0, 4)},"constructor":${entry(4, 8)},"7":${entry(8, 12)}}`;
    const tensors = await parse(withHeader(odd, ramp(12)));
    expect(tensors.map(({ name }) => name)).toEqual(['__proto__', 'constructor', '7']);
  });

  test('block sizes', () => {
    expect([DTYPE.Q8_0.blockBytes, DTYPE.Q4_0.blockBytes, DTYPE.BF16.blockBytes]).toEqual([34, 18, 2]);
  });
});

describe('malformed files', () => {
  const cases: [string, Uint8Array<ArrayBuffer>, RegExp][] = [
    ['7 bytes', Uint8Array.from(ramp(7)), /has 7 bytes/],
    ['a header past the cap', withHeader('{}', ramp(0), 2n ** 25n + 1n), /at most 33554432/],
    ['a header of 2^64 - 1', withHeader('{}', ramp(0), 2n ** 64n - 1n), /at most 33554432/],
    ['a header past the file', withHeader('{}', ramp(0), 3n), /ends at byte 11, the file has 10/],
    ['an empty header', withHeader(''), /does not begin with/],
    ['a header that begins with a space', withHeader(' {}'), /does not begin with/],
    ['a list', withHeader('[]'), /does not begin with/],
    ['bad UTF-8', withHeader(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d)), /UTF-8/],
    ['bad JSON', withHeader('{"a":}'), /not valid JSON/],
    ['an unclosed string', withHeader('{"a'), /not valid JSON/],
    ['a key twice', withHeader(`{"a":${entry(0, 4)},"a":${entry(0, 4)}}`, ramp(4)), /"a" appears twice/],
    ['a key twice, once escaped', withHeader(`{"a":${entry(0, 4)},"\\u0061":${entry(0, 4)}}`, ramp(4)), /"a" appears/],
    ['a key twice in a tensor', withHeader(`{"a":{"dtype":"F32","dtype":"F16"}}`), /"dtype" appears twice/],
    ['deep nesting', withHeader(`{"a":${'['.repeat(1e6)}`), /deeper than 64/],
    ['millions of empty lists', withHeader(`{"a":[${'[],'.repeat(8e6)}0]}`), /more than 201326592 bytes of memory/],
    [
      'too many keys',
      withHeader(`{${Array.from({ length: 600_000 }, (_, i) => `"${i}":0`).join()}}`),
      /more than 524288 keys/,
    ],
    ['metadata of numbers', withHeader('{"__metadata__":{"a":1}}'), /strings to strings/],
    ['metadata as a list', withHeader('{"__metadata__":[]}'), /strings to strings/],
    ['a tensor that is null', withHeader('{"a":null}'), /not described by an object/],
    ['no dtype', withHeader('{"a":{"shape":[],"data_offsets":[0,4]}}', ramp(4)), /no dtype/],
    ['no shape', withHeader('{"a":{"dtype":"F32","data_offsets":[0,4]}}', ramp(4)), /shape/],
    ['a negative size', withHeader(`{"a":${entry(0, 4, 'F32', '[-1]')}}`, ramp(4)), /shape/],
    ['half a size', withHeader(`{"a":${entry(0, 4, 'F32', '[0.5]')}}`, ramp(4)), /shape/],
    ['a size of 1e308', withHeader(`{"a":${entry(0, 4, 'F32', '[1e308]')}}`, ramp(4)), /shape/],
    ['a size as text', withHeader(`{"a":${entry(0, 4, 'F32', '["1"]')}}`, ramp(4)), /shape/],
    ['nine dimensions', withHeader(`{"a":${entry(0, 4, 'F32', '[1,1,1,1,1,1,1,1,1]')}}`, ramp(4)), /9 dimensions/],
    ['a product past 2^53', withHeader(`{"a":${entry(0, 4, 'F32', '[4294967296,4294967296]')}}`, ramp(4)), /too many/],
    ['one offset', withHeader('{"a":{"dtype":"F32","shape":[],"data_offsets":[4]}}', ramp(4)), /data_offsets/],
    ['offsets reversed', withHeader('{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}', ramp(4)), /before it/],
    ['a hole', withHeader(`{"a":${entry(0, 4)},"b":${entry(8, 12)}}`, ramp(12)), /"b" leaves a hole/],
    ['a hole in front', withHeader(`{"a":${entry(4, 8)}}`, ramp(8)), /"a" leaves a hole/],
    ['an overlap', withHeader(`{"a":${entry(0, 8)},"b":${entry(4, 8)}}`, ramp(8)), /"b" overlaps/],
    ['fewer bytes than the shape', withHeader(`{"a":${entry(0, 4, 'F32', '[2]')}}`, ramp(4)), /takes 8 bytes/],
    ['more bytes than the shape', withHeader(`{"a":${entry(0, 8, 'F16', '[2]')}}`, ramp(8)), /takes 4 bytes/],
    ['a tensor past the end', withHeader(`{"a":${entry(0, 8)}}`, ramp(4)), /truncated: tensor "a" ends at byte \d+/],
    ['bytes after the last tensor', withHeader(`{"a":${entry(0, 4)}}`, ramp(5)), /but the file has/],
  ];
  test.each(cases)('%s', async (_, bytes, message) => {
    const error = await parse(bytes).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ModelFileError);
    expect(String(error)).toMatch(message);
    expect(String(error)).toContain('test.safetensors');
  });

  test.each(['I64', 'F8_E4M3', 'BOOL', 'Q8_0', 'nonsense'])('dtype %s is unsupported', async (dtype) => {
    const error = await parse(withHeader(`{"odd":${entry(0, 4, dtype, '[1]')}}`, ramp(4))).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(UnsupportedModelError);
    expect(String(error)).toMatch(new RegExp(`"odd" has dtype "${dtype}"`));
  });

  test('cut at every byte', async () => {
    const whole = writeSafetensors(
      { a: { dtype: 'F32', shape: [2], data: ramp(8) }, b: { dtype: 'F16', shape: [1], data: ramp(2) } },
      { format: 'pt' },
    );
    for (let n = 0; n < whole.length; n++) {
      const error = await parse(whole.slice(0, n)).catch((e: unknown) => e);
      expect(error, `cut at ${n}`).toBeInstanceOf(ModelFileError);
    }
  });
});
