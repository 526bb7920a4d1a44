// How far one byte or one half of the cache moves log probabilities: the bounds of histories whose keys and values are
// rounded.

import { expect, test } from 'vitest';
import { CpuLlama } from '../../../src/cpu/llama';
import { logprobs } from '../../../src/cpu/logprobs';
import { loadFixture } from '../../cpu/fixtures';
import { randomSource } from '../../random';
import { TINY } from '../doubles/loop_session';
import { CLOSE, faultsOf, KV_STEPS, newCounts } from './histories';

const PROMPT = 110;
const ANSWER = 8;

/** The step from a number of a row to the next one: of signed bytes with a scale for the row, and of halves. */
const STEPS = {
  q8: (row: Float32Array) => Math.max(...row.map(Math.abs)) / 127,
  f16: (_: Float32Array, value: number) => 2 ** (Math.floor(Math.log2(Math.abs(value))) - 10),
};

/** The largest change of log probabilities for each of `cases` numbers that are one step off, by the textbook. */
async function changesOf(type: keyof typeof STEPS, cases: number, seed: number): Promise<number[]> {
  const { config, weights } = await loadFixture(TINY);
  const random = randomSource(seed);
  const pick = (n: number) => Math.floor(random() * n);
  const ids = Array.from({ length: PROMPT + ANSWER }, () => pick(config.vocabSize));
  const llama = new CpuLlama(config, weights, ids.length, type === 'q8' ? 'q8' : 'f32');
  llama.prefill(ids.slice(0, PROMPT), 0);
  const parked = llama.park(PROMPT);
  const answer = () =>
    ids.slice(PROMPT).flatMap((id, t) => {
      const logits = llama.forward(id, PROMPT + t);
      const { top } = logprobs(logits, id, config.vocabSize);
      return top.sort((a, b) => a.id - b.id).map(({ logprob }) => logprob);
    });
  const exact = answer();
  return Array.from({ length: cases }, () => {
    llama.restore(parked, PROMPT);
    const position = pick(PROMPT);
    const rows = llama.readRows(position, 1);
    const head = pick(rows.length / config.headDim) * config.headDim;
    const place = head + pick(config.headDim);
    const step = STEPS[type](rows.subarray(head, head + config.headDim), rows[place] ?? 0);
    rows[place] += pick(2) === 0 ? step : -step;
    llama.writeRows(position, 1, rows);
    return answer().reduce((most, logprob, i) => Math.max(most, Math.abs(logprob - (exact[i] ?? Number.NaN))), 0);
  });
}

test.each(['q8', 'f16'] as const)(
  '%s: a number that is one step off moves log probabilities up to the bound',
  async (type) => {
    const changes: number[] = [];
    for (let seed = 0; seed < 6; seed++) changes.push(...(await changesOf(type, 40, seed)));
    const most = Math.max(...changes);
    expect(most).toBeLessThan(KV_STEPS[type]);
    expect(most).toBeGreaterThan(KV_STEPS[type] / 5);
    const far = changes.filter((change) => change > CLOSE).length / changes.length;
    expect(far).toBeGreaterThan(0.2); // of sums in another order alone none is
  },
);

test('more answers than roundings move are a fault', () => {
  expect(faultsOf({ ...newCounts(), logged: 180, moved: 19 })).toEqual([]);
  expect(faultsOf({ ...newCounts(), logged: 180, moved: 20 })).toEqual([expect.stringMatching(/20 answers of 180/)]);
});
