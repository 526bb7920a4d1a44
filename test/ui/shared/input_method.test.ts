// Keys of an input method.

import { expect, test } from 'vitest';
import { isComposing } from '../../../src/ui/shared/input_method';

test('the key that ends a composition is ignored, in Safari too', () => {
  expect(isComposing({ isComposing: true, keyCode: 13 })).toBe(true);
  expect(isComposing({ isComposing: false, keyCode: 229 })).toBe(true);
  expect(isComposing({ isComposing: false, keyCode: 13 })).toBe(false);
});
