// The height of a field: measured for short texts, fixed for very long ones.

import { expect, test } from 'vitest';
import { fitHeight, prepareField } from '../../../src/ui/shared/field_height';

/** A field that counts the layouts of its text. */
function fieldOf(value: string) {
  let measured = 0;
  const style = { height: '', unicodeBidi: '' };
  const field = {
    value,
    style,
    offsetHeight: 26,
    clientHeight: 24,
    get scrollHeight() {
      measured += 1;
      return 72;
    },
  };
  fitHeight(field as unknown as HTMLTextAreaElement);
  return { height: style.height, measured, bidi: style.unicodeBidi };
}

test('a field is as high as its text and its borders', () => {
  expect(fieldOf('one\ntwo\nthree')).toEqual({ height: '74px', measured: 1, bidi: '' });
});

for (const [what, text] of [
  ['a megabyte of short lines', 'x\n'.repeat(500_000)],
  ['a megabyte in one line', 'x'.repeat(1_000_000)],
  ['101 lines', '\n'.repeat(101)],
] as const) {
  test(`a field with ${what} is as high as its style allows, and never measured`, () => {
    expect(fieldOf(text)).toMatchObject({ height: '100vh', measured: 0 });
  });
}

test('each line has the direction of its letters, unless one is so long that finding it takes seconds', () => {
  const line = 'x'.repeat(50_000);
  for (const text of ['', line, `${line}\n${line}`, `${`${line}\n`.repeat(20)}\n\n`, '\n'.repeat(200_000)]) {
    expect(fieldOf(text).bidi).toBe('');
  }
  for (const text of [`${line}x`, `a\n${line}x`, `${line}x\na`, `${line}\n${line}x\n${line}`]) {
    expect(fieldOf(text).bidi).toBe('normal');
  }
});

test('a field is prepared for a long line, and for what undo and redo may bring', () => {
  const preparedFor = (inputType: string, data: string | null) => {
    const target = { style: { unicodeBidi: '' } };
    prepareField({ target, inputType, data } as unknown as InputEvent);
    return target.style.unicodeBidi;
  };
  const line = 'x'.repeat(50_000);
  expect(['a', null, line, `${line}\n${line}`].map((data) => preparedFor('insertFromPaste', data))).toEqual(
    Array(4).fill(''),
  );
  expect(preparedFor('insertFromPaste', `${line}x`)).toBe('normal');
  expect(['historyUndo', 'historyRedo'].map((type) => preparedFor(type, null))).toEqual(['normal', 'normal']);
});
