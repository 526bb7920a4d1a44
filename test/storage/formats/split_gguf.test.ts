// GGUF models in parts, from every kind of location: a complete set is read, anything else is rejected by name.

import { describe, expect, test } from 'vitest';
import { ModelFetchError, ModelFileError } from '../../../src/errors';
import { openModel } from '../../../src/storage/model_file';
import type { ModelLocation } from '../../../src/storage/source/byte_source';
import { serve } from '../serve';
import { ramp, value, writeGguf } from '../write_gguf';

type Files = Record<string, Uint8Array<ArrayBuffer>>;

interface Part {
  no?: number;
  count?: number;
  tensors?: string[];
  total?: number;
  more?: Parameters<typeof writeGguf>[0]['keys'];
}

/** A part as llama-gguf-split writes it. The first holds the model's metadata. */
function part({ no = 0, count = 3, tensors = [`t${no}`], total = 3, more = [] }: Part): Uint8Array<ArrayBuffer> {
  return writeGguf({
    keys: [
      ...(no === 0 ? ([['tokenizer.ggml.tokens', value.strings(['a'])]] as typeof more) : []),
      ['split.no', value.u16(no)],
      ['split.count', value.u16(count)],
      ['split.tensors.count', (out) => out.u32(5).u32(total)],
      ...more,
    ],
    tensors: tensors.map((name) => ({ name, ne: [4], data: ramp(16, 10 * no) })),
  });
}

const nameOf = (i: number, n = 3, stem = 'm') =>
  `${stem}-${String(i).padStart(5, '0')}-of-${String(n).padStart(5, '0')}.gguf`;
const WHOLE: Files = {
  [nameOf(1)]: part({ no: 0 }),
  [nameOf(2)]: part({ no: 1 }),
  [nameOf(3)]: part({ no: 2 }),
};

const dropped = (files: Files) => Object.entries(files).map(([name, bytes]) => new File([bytes], name));
const WAYS: [string, (files: Files, asked: string) => Promise<ModelLocation>][] = [
  ['a URL', async (files, asked) => `${(await serve(files)).url}${asked}`],
  ['dropped files', async (files) => dropped(files)],
];

describe.each(WAYS)('the parts as %s', (_, place) => {
  const open = async (files: Files, asked = nameOf(1)) => openModel(await place(files, asked));

  test.each([1, 2, 3])('form one model when part %d is named', async (asked) => {
    const model = await open(WHOLE, nameOf(asked));
    expect([...model.tensors.keys()]).toEqual(['t0', 't1', 't2']);
    expect(model.totalBytes).toBe(48);
    expect(model.gguf?.get('tokenizer.ggml.tokens')).toEqual(['a']);
    expect(await model.tensors.get('t2')?.read(0, 16)).toEqual(ramp(16, 20));
  });

  const without = (name: string) => Object.fromEntries(Object.entries(WHOLE).filter(([key]) => key !== name));
  const wrong: [string, Files, new (...args: never[]) => Error, RegExp][] = [
    ['one is missing', without(nameOf(3)), ModelFetchError, /lacks m-00003-of-00003\.gguf, one of the 3 parts/],
    [
      'one is another one under its name',
      { ...WHOLE, [nameOf(3)]: WHOLE[nameOf(2)] },
      ModelFileError,
      /m-00003-of-00003\.gguf: says that it is part 2 of 3, not part 3 of 3/,
    ],
    [
      'one is no part',
      { ...WHOLE, [nameOf(2)]: writeGguf({}) },
      ModelFileError,
      /00002-of-00003\.gguf: says that it is no part/,
    ],
    [
      'one has other tensors in mind',
      { ...WHOLE, [nameOf(2)]: part({ no: 1, total: 9 }) },
      ModelFileError,
      /00002-of-00003\.gguf: belongs to another model than m-00001/,
    ],
    [
      'one repeats a tensor',
      { ...WHOLE, [nameOf(3)]: part({ no: 2, tensors: ['t1'] }) },
      ModelFileError,
      /00003-of-00003\.gguf: repeats tensor "t1"/,
    ],
    [
      'they hold fewer tensors than announced',
      { ...WHOLE, [nameOf(3)]: part({ no: 2, tensors: [] }) },
      ModelFileError,
      /announces 3 tensors for its 3 parts, which hold 2/,
    ],
  ];
  test.each(wrong)('%s', async (_, files, type, message) => {
    const error = await open(files).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(type);
    expect(String(error)).toMatch(message);
  });

  test('a name without a part number', async () => {
    const named = open({ 'm.gguf': part({ no: 0 }) }, 'm.gguf');
    await expect(named).rejects.toThrow(/m\.gguf: is one of 3 parts, but is not called like one/);
    const other = open({ [nameOf(1, 2)]: part({ no: 0 }) }, nameOf(1, 2));
    await expect(other).rejects.toThrow(/is one of 3 parts, but is not called like one/);
  });

  test('endless parts', async () => {
    const name = nameOf(1, 60000);
    await expect(open({ [name]: part({ no: 0, count: 60000 }) }, name)).rejects.toThrow(/60000 parts; at most 1024/);
  });
});

test('parts of two models, and a part dropped twice, are errors with their names', async () => {
  const other = Object.fromEntries(Object.entries(WHOLE).map(([name, bytes]) => [name.replace('m-', 'n-'), bytes]));
  const both = openModel(dropped({ ...WHOLE, ...other }));
  await expect(both).rejects.toThrow(/holds 2 models.*m-00001-of-00003\.gguf.*n-00001-of-00003\.gguf/);
  const twice = openModel([...dropped(WHOLE), ...dropped({ [nameOf(2)]: WHOLE[nameOf(2)] })]);
  await expect(twice).rejects.toThrow(/m-00002-of-00003\.gguf: was dropped more than once/);
});
