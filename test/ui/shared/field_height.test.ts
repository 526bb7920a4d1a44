// The height of a field: measured for short texts, fixed for very long ones.

import { expect, test } from 'vitest';
import { fitHeight } from '../../../src/ui/shared/field_height';

/** A field that counts the layouts of its text. */
function fieldOf(value: string) {
  let measured = 0;
  const style = { height: '' };
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
  return { height: style.height, measured };
}

test('a field is as high as its text and its borders', () => {
  expect(fieldOf('one\ntwo\nthree')).toEqual({ height: '74px', measured: 1 });
});

for (const [what, text] of [
  ['a megabyte of short lines', 'x\n'.repeat(500_000)],
  ['a megabyte in one line', 'x'.repeat(1_000_000)],
  ['101 lines', '\n'.repeat(101)],
] as const) {
  test(`a field with ${what} is as high as its style allows, and never measured`, () => {
    expect(fieldOf(text)).toEqual({ height: '100vh', measured: 0 });
  });
}
