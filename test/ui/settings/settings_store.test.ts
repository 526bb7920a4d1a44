// Stored settings: read back, checked, and written without the defaults.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SAMPLING_FIELDS, standardSampling, stepsOf } from '../../../src/ui/settings/settings_fields';
import { parseRemembered } from '../../../src/ui/settings/settings_store';

test('what was chosen comes back, and the rest is standard', () => {
  const stored = JSON.stringify({ sampling: { temperature: 0.2, seed: 7 }, system: 'Be brief.', thinking: 'off' });
  expect(parseRemembered(stored)).toEqual({
    sampling: { ...standardSampling(), temperature: 0.2, seed: 7 },
    system: 'Be brief.',
    thinking: 'off',
  });
});

test('nothing stored, or nothing that can be read, is the standard', () => {
  const standard = { sampling: standardSampling(), system: '', thinking: 'on' };
  for (const text of [
    null,
    '',
    '{',
    'null',
    '3',
    '[]',
    '{"sampling":null}',
    '{"sampling":"x","system":5,"thinking":false}',
  ]) {
    expect(parseRemembered(text), String(text)).toEqual(standard);
  }
  expect(parseRemembered(JSON.stringify({ system: 'x'.repeat(100_001) }))).toEqual(standard);
  expect(parseRemembered(JSON.stringify({ system: 'x'.repeat(1_000_000) }))).toEqual(standard);
});

test('values out of range are brought into it, and strangers stay out', () => {
  const { sampling } = parseRemembered(
    '{"sampling":{"temperature":99,"topK":1.6,"topP":"1","__proto__":{"minP":1},"x":1}}',
  );
  expect(sampling).toEqual({ ...standardSampling(), temperature: 2, topK: 2 });
});

test('whatever is stored, every value is allowed', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.constantFrom(...SAMPLING_FIELDS), (value, system, { key }) => {
      const remembered = parseRemembered(JSON.stringify({ sampling: { [key]: value }, system }));
      for (const field of SAMPLING_FIELDS) {
        const chosen = remembered.sampling[field.key];
        if (chosen === null) expect(field.standard).toBeNull();
        else {
          const [min, max] = stepsOf(field);
          expect(chosen >= min && chosen <= max).toBe(true);
        }
      }
      expect(typeof remembered.system).toBe('string');
      expect(remembered.thinking).toMatch(/^(?:on|off)$/);
    }),
  );
});

test('the longest system prompt comes back, whatever its letters take in storage', () => {
  for (const letter of ['x', '\n', '"', '\u0001']) {
    const system = letter.repeat(100_000);
    expect(parseRemembered(JSON.stringify({ sampling: {}, system, thinking: 'off' }))).toMatchObject({
      system,
      thinking: 'off',
    });
  }
});
