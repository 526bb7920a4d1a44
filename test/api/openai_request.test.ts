// The ranges of number fields, against the engine's table of options.

import { expect, test } from 'vitest';
import { NUMBER_FIELDS } from '../../src/api/openai_request';
import { GENERATE_OPTIONS, type NumberOption } from '../../src/engine/options';

for (const [field, { option, isInteger = false, min, max }] of Object.entries(NUMBER_FIELDS)) {
  test(`${field} has the range of the engine's option ${option}`, () => {
    const known: NumberOption = GENERATE_OPTIONS[option as 'temperature'];
    expect([isInteger, min, max]).toEqual([known.kind === 'integer', known.min, known.max]);
  });
}
