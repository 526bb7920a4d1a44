// How far one byte of the cache moves log probabilities: the bound of histories whose keys and values are signed bytes.

import { expect, test } from 'vitest';
import { CpuLlama } from '../../../src/cpu/llama';
import { logprobs } from '../../../src/cpu/logprobs';
import { loadFixture } from '../../cpu/fixtures';
import { randomSource } from '../../random';
import { TINY } from '../doubles/loop_session';
import { BYTE_STEP, CLOSE, faultsOf, newCounts } from './histories';

const PROMPT = 110;
const ANSWER = 8;

/** The largest change of log probabilities for each of `cases` bytes that are one step off, by the textbook. */
async function changesOf(cases: number, seed: number): Promise<number[]> {
  const { config, weights } = await loadFixture(TINY);
  const random = randomSource(seed);
  const pick = (n: number) => Math.floor(random() * n);
  const ids = Array.from({ length: PROMPT + ANSWER }, () => pick(config.vocabSize));
  const llama = new CpuLlama(config, weights, ids.length, 'q8');
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
    const scale = Math.max(...rows.subarray(head, head + config.headDim).map(Math.abs)) / 127;
    rows[head + pick(config.headDim)] += pick(2) === 0 ? scale : -scale;
    llama.writeRows(position, 1, rows);
    return answer().reduce((most, logprob, i) => Math.max(most, Math.abs(logprob - (exact[i] ?? Number.NaN))), 0);
  });
}

test('a byte that is one step off moves log probabilities up to the bound, and mostly by more than sums in another order', async () => {
  const changes: number[] = [];
  for (let seed = 0; seed < 6; seed++) changes.push(...(await changesOf(40, seed)));
  const most = Math.max(...changes);
  expect(most).toBeLessThan(BYTE_STEP);
  expect(most).toBeGreaterThan(BYTE_STEP / 4);
  expect(changes.filter((change) => change > CLOSE).length).toBeGreaterThan(changes.length / 2);
});

test('more answers than roundings move are a fault', () => {
  expect(faultsOf({ ...newCounts(), logged: 180, moved: 19 })).toEqual([]);
  expect(faultsOf({ ...newCounts(), logged: 180, moved: 20 })).toEqual([expect.stringMatching(/20 answers of 180/)]);
});
