// The comparisons of `bench -- step`.

import { expect, test } from 'vitest';
import { addText } from '../../../../bench/page/suites/step';

test('texts agree token for token, or differ first at some token, of which one may have none', () => {
  const agreement = { texts: 0, agreed: 0, firsts: [], giveUps: 0 };
  addText(agreement, [1, 2, 3], [1, 2, 3]);
  addText(agreement, [1, 2, 3], [1, 4, 3]);
  addText(agreement, [1, 2], [1, 2, 3]);
  expect(agreement).toEqual({ texts: 3, agreed: 1, firsts: [null, 1, 2], giveUps: 0 });
});
