// How fair turns are, in simulated time: an answer beside others, on a GPU whose steps and chunks take so many
// milliseconds and whose readbacks come 3 ms late, as in Chromium.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Stopped } from '../../../../src/engine/backend/backend';
import type { RunMetrics } from '../../../../src/engine/protocol';
import { generate } from '../../../../src/engine/worker/generate';
import { Branches } from '../../../../src/engine/worker/prefix_cache/branches';
import { Turns } from '../../../../src/engine/worker/turns/turns';
import { numberSession } from '../../doubles/loop_session';
import { ScriptBackend } from '../../doubles/script_backend';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const CHUNK = 512;
const LATE_MS = 3;
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Runs what is queued, one after another. */
class QueuedBackend extends ScriptBackend {
  override readonly maxRunAhead = 64;
  private freeAt = 0;

  constructor(
    private readonly stepMs: number,
    private readonly chunkMs: number,
  ) {
    super(20_000, (position) => position % 100);
  }

  private async work(ms: number): Promise<void> {
    this.freeAt = Math.max(performance.now(), this.freeAt) + ms;
    await sleep(this.freeAt - performance.now() + LATE_MS);
  }

  override async prefill(ids: Uint32Array, position: number, onProgress: (done: number) => void, stopped: Stopped) {
    let before = Promise.resolve();
    for (let ran = CHUNK; ran < ids.length; ran += CHUNK) {
      const chunk = this.work(this.chunkMs);
      await before;
      before = chunk;
      onProgress(ran - CHUNK);
      if (await stopped(chunk)) return { token: null, ran };
    }
    const token = this.work(this.chunkMs).then(() => this.script(position + ids.length));
    await before;
    return { token };
  }

  override async decode(position: number): Promise<number> {
    await this.work(this.stepMs);
    return this.script(position + 1);
  }
}

const ids = (length: number) => Array.from({ length }, (_, i) => i % 250);

/** The figures of an answer of 3 seconds alone, whose neighbors begin with its tenth token. */
async function measure(stepMs: number, neighbors: readonly { prompt: number; maxTokens: number }[]) {
  const backend = new QueuedBackend(stepMs, 200);
  const kv = { restore() {}, shrink: async () => null, extend: () => true, destroy() {} };
  const session = {
    ...numberSession(backend),
    branches: new Branches(
      { bytesPerToken: 1, bytesOf: (tokens: number) => tokens, least: 0, park: async () => kv },
      1e9,
    ),
  };
  const turns = new Turns();
  turns.most = 4;
  const run = async (prompt: number, maxTokens: number, onToken = (_: number) => {}) => {
    const turn = await turns.enter({ stopped: () => false });
    let metrics: RunMetrics | null = null;
    let count = 0;
    const options = { temperature: 0, maxTokens, reuseCache: false };
    await generate(
      session,
      { ids: ids(prompt) },
      options,
      (events) => {
        for (const event of events) {
          if (event.type === 'token') onToken(++count);
          if (event.type === 'done') metrics = event.metrics;
        }
      },
      () => false,
      undefined,
      undefined,
      turn!,
    ).finally(() => turn!.leave());
    return metrics! as RunMetrics;
  };
  const others: Promise<RunMetrics>[] = [];
  let isOver = false;
  const answer = run(3, 3000 / stepMs, (count) => {
    if (count === 10) others.push(...neighbors.map(({ prompt, maxTokens }) => run(prompt, maxTokens)));
  }).finally(() => {
    isOver = true;
  });
  while (!isOver) await vi.advanceTimersByTimeAsync(1);
  const { tbtMs } = await answer;
  const gaps = tbtMs.perToken.slice(10);
  return { mean: gaps.reduce((sum, ms) => sum + ms, 0) / gaps.length, most: Math.max(...gaps) };
}

const FOREVER = { prompt: 3, maxTokens: 10_000 };

test.each([2, 5, 15, 40, 120])(
  'beside another answer, a token takes about twice as long, at %s ms a step',
  async (stepMs) => {
    const { mean, most } = await measure(stepMs, [FOREVER]);
    expect(mean / (await measure(stepMs, [])).mean).toBeLessThan(2.2);
    expect(most).toBeLessThan(300); // the prompt of the other, of 200 ms
  },
);

test('beside three others, about four times', async () => {
  const { mean, most } = await measure(15, [FOREVER, FOREVER, FOREVER]);
  expect(mean / 15).toBeLessThan(4.4);
  expect(most).toBeLessThan(700); // the prompts of the others
});

test('beside a long prompt, about twice, and no gap is longer than a chunk and a turn', async () => {
  const { mean, most } = await measure(15, [{ prompt: 15_000, maxTokens: 1 }]);
  expect(mean / 15).toBeLessThan(2.3);
  expect(most).toBeLessThan(250);
});
