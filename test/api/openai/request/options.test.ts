// The fields that set options, against the engine's table of options.

import { expect, test } from 'vitest';
import { NUMBERS } from '../../../../src/api/openai/request/options';
import { GENERATE_OPTIONS, type NumberOption } from '../../../../src/engine/options';

for (const [field, [min, max]] of Object.entries(NUMBERS)) {
  test(`${field} is a number option of the engine with the same range`, () => {
    const option = field.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
    const { kind, min: least, max: most }: NumberOption = GENERATE_OPTIONS[option as 'temperature'];
    expect([kind, least, most]).toEqual(['number', min, max]);
  });
}
