// The beats of the tempo mark: at the tokens' own pace while they are slow, and at most four a second.

import { parseHTML } from 'linkedom';
import { expect, test } from 'vitest';
import type { EngineEvent } from '../../../src/engine/engine';
import { Beats, TempoMark } from '../../../src/ui/page/tempo_mark';
import { importTranslation } from '../../../src/words/import_translation';
import { useLanguage } from '../../../src/words/language';

/** The beats among tokens that come every `gapMs` for ten seconds. */
function beatsIn(gapMs: number): number {
  const beats = new Beats();
  let count = 0;
  for (let ms = 0; ms < 10_000; ms += gapMs) count += beats.isBeat(ms) ? 1 : 0;
  return count;
}

test('every slow token is a beat', () => {
  expect(beatsIn(500)).toBe(20);
});

test('fast tokens make at most four beats a second', () => {
  for (const gapMs of [1, 5, 60, 249]) expect(beatsIn(gapMs), `${gapMs} ms`).toBeLessThanOrEqual(40);
  expect(beatsIn(5)).toBe(40);
});

test('the rate has the decimal sign of the language', async () => {
  const done = { type: 'done', metrics: { decodeTokensPerSecond: 2.06 } } as EngineEvent;
  const rates: (string | null)[] = [];
  for (const tag of ['en', 'de']) {
    await useLanguage(tag, importTranslation);
    const { document } = parseHTML('<p><i></i><b hidden></b></p>');
    const [mark, rate] = [document.querySelector('i')!, document.querySelector('b')!];
    new TempoMark(mark, rate).hear(done);
    rates.push(rate.textContent);
  }
  await useLanguage('en', importTranslation);
  expect(rates).toEqual(['= 2.1 tok/s', '= 2,1 tok/s']);
});
