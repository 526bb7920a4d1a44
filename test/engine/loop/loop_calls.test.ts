// The WebGPU calls of the loop, on a toy model of one kernel: a token creates nothing, prefill keeps two passes in
// flight, steps may share a readback, and a lost device is one typed error.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { nextTask } from '../../../src/shared/next_task';
import { CallCounter } from '../../gpu/call_counter';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';
import { GREEDY } from '../../sampling/params';
import { ask, numberSession, sharedRunAhead, TOY_PASS, toyBackend, toyIds } from '../doubles/loop_session';

const PROMPT = [17, 4, 99];
const INPUT = { prompt: PROMPT.join(' ') };

let counter: CallCounter | null = null;
afterEach(() => counter?.stop());

describe.each(PATHS.map((without) => [pathName(without), without] as const))('%s', (_, without) => {
  test('a token is one submit and one readback, and creates nothing', async () => {
    const gpu = await testGpu(without);
    const session = numberSession(await toyBackend(gpu, 100));
    const options = { temperature: 0, runAhead: 8, maxTokens: 60, gpuTimes: true };
    await ask(session, INPUT, options);
    const calls = new CallCounter();
    counter = calls;
    const [from, to] = [12, 12 + 32];
    let steady: string[] = [];
    let begun = 0;
    const onToken = (tokens: number) => {
      if (tokens === from) begun = calls.calls.length;
      if (tokens === to) steady = calls.calls.slice(begun);
    };
    const { ids, done, gpuMs } = await ask(session, INPUT, options, { onToken });
    expect(ids).toEqual(toyIds(PROMPT, 60));
    const counts: Record<string, number> = {};
    for (const call of steady) counts[call] = (counts[call] ?? 0) + 1;
    expect(counts).toEqual({
      createCommandEncoder: 32,
      beginComputePass: 32,
      dispatchWorkgroups: 32,
      copyBufferToBuffer: 32,
      submit: 32,
      mapAsync: 32,
      ...(gpu.can.immediates ? {} : { writeBuffer: 32 }), // the step, if it cannot travel in the commands
    });
    expect(calls.creations).toEqual([]); // in the whole second answer
    expect(done.metrics.perToken).toEqual({ dispatches: 1, submits: 1, syncs: 1, bytesRead: 4 });
    expect(gpuMs?.perToken.length ?? null).toBe(gpu.can.timestamps ? 59 : null);
  });

  test('steps that share a readback bring the same ids', async () => {
    const gpu = await testGpu(without);
    const session = numberSession(await toyBackend(gpu, 500));
    session.runAhead = sharedRunAhead();
    // More tokens than the ring has readbacks.
    const options = { temperature: 0, maxTokens: 401, gpuTimes: true };
    const { ids, done, gpuMs } = await ask(session, INPUT, options);
    expect(ids).toEqual(toyIds(PROMPT, 401));
    const { perToken, runAhead } = done.metrics;
    const submits = gpu.can.immediates ? 1 / 5 : 1;
    expect(perToken).toEqual({ dispatches: 1, submits, syncs: 1 / 5, bytesRead: 4 });
    expect(runAhead).toBe(20);
    expect(gpuMs?.perToken.length ?? null).toBe(gpu.can.timestamps ? 400 : null);
    expect(gpu.failure).toBeNull();
  });

  test('the ring is never overrun while readbacks come to be shared', async () => {
    const gpu = await testGpu(without);
    const session = numberSession(await toyBackend(gpu, 500));
    const runAhead = Object.assign(sharedRunAhead(), { depth: 64, shared: 1 });
    session.runAhead = runAhead;
    const onToken = (tokens: number) => {
      if (tokens === 10) Object.assign(runAhead, { depth: 128, shared: 2 });
      if (tokens === 200) Object.assign(runAhead, { depth: 64, shared: 1 });
    };
    const { ids } = await ask(session, INPUT, { temperature: 0, maxTokens: 400 }, { onToken });
    expect(ids).toEqual(toyIds(PROMPT, 400));
    expect(gpu.failure).toBeNull();
  });

  test('the ring is free again after stops with steps in flight', async () => {
    const session = numberSession(await toyBackend(await testGpu(without), 400));
    for (let round = 1; round <= 6; round++) {
      const stopped = (tokens: number) => tokens >= round;
      const { ids } = await ask(session, INPUT, { temperature: 0, runAhead: 64 }, { stopped });
      expect(ids).toEqual(toyIds(PROMPT, round));
    }
    const { ids } = await ask(session, INPUT, { temperature: 0, runAhead: 64, maxTokens: 150 });
    expect(ids).toEqual(toyIds(PROMPT, 150));
  });
});

describe('prefill', () => {
  const long = Array.from({ length: 3 * TOY_PASS + 40 }, (_, i) => (i * 37) % 259);
  const input = { prompt: long.join(' ') };

  test('submits a chunk before it awaits the one before, and counts only what is done', async () => {
    const session = numberSession(await toyBackend(await testGpu(), 4 * TOY_PASS));
    const calls = new CallCounter();
    counter = calls;
    const { ids, prefill } = await ask(session, input, { temperature: 0, maxTokens: 1 });
    expect(ids).toEqual(toyIds(long, 1));
    expect(prefill.map(({ done }) => done)).toEqual([0, 1, 2, 3].map((n) => n * TOY_PASS).concat(long.length));
    const order = calls.calls.filter((call) => ['submit', 'onSubmittedWorkDone', 'mapAsync'].includes(call));
    expect(order).toEqual([...Array(3).fill(['submit', 'onSubmittedWorkDone']).flat(), 'submit', 'mapAsync']);
  });

  test.each([
    ['passes of more than a second run one at a time', 1001, [1, 2, 1, 1, 1]],
    ['shorter ones two at a time', 1000, [1, 2, 2, 2, 2]],
  ])('%s', async (_, passMs, expected) => {
    const gpu = await testGpu();
    let ms = 0;
    const now = vi.spyOn(performance, 'now').mockImplementation(() => ms);
    let inFlight = 0;
    const most: number[] = [];
    let idle = Promise.resolve(); // passes run one after another
    const workDone = vi.spyOn(gpu, 'workDone').mockImplementation(() => {
      most.push(++inFlight);
      idle = idle.then(nextTask).then(() => {
        ms += passMs;
        inFlight--;
      });
      return idle;
    });
    const backend = await toyBackend(gpu, 6 * TOY_PASS);
    await backend.begin(GREEDY, false);
    const ids = Uint32Array.from({ length: 5 * TOY_PASS + 1 }, (_, i) => i % 259);
    const done: number[] = [];
    await backend.prefill(
      ids,
      0,
      (n) => done.push(n),
      () => false,
    );
    expect(most).toEqual(expected);
    expect(done).toEqual([1, 2, 3, 4, 5].map((n) => n * TOY_PASS));
    now.mockRestore();
    workDone.mockRestore();
  });

  test('is watched closely, and steps are not', async () => {
    const gpu = await testGpu();
    const closely = vi.spyOn(gpu.watch, 'closely');
    const session = numberSession(await toyBackend(gpu, 64));
    for (const asked of [1, 2]) {
      const { ids, done } = await ask(session, INPUT, { temperature: 0, maxTokens: 5 });
      expect(ids.length).toBe(5);
      expect(closely).toHaveBeenCalledTimes(asked);
      // The second time, only the last token of the prompt runs.
      if (asked === 2) expect(done.usage.cachedTokens).toBe(done.usage.promptTokens - 1);
    }
    closely.mockRestore();
  });

  test('is expected after the time of a similar prompt, and submits of the next fit its time', async () => {
    const gpu = await testGpu();
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    const closely = vi.spyOn(gpu.watch, 'closely').mockImplementation(() => now.mockReturnValue(80));
    const backend = await toyBackend(gpu, TOY_PASS);
    const prompt = async (length: number) => {
      now.mockReturnValue(0);
      const { token } = await backend.prefill(
        new Uint32Array(length).fill(1),
        0,
        () => {},
        () => false,
      );
      await token;
      return closely.mock.lastCall?.[1];
    };
    await backend.begin(GREEDY, false);
    expect([await prompt(10), await prompt(12), await prompt(12), await prompt(16), await prompt(15)]).toEqual([
      0,
      80,
      80,
      0,
      80 * (15 / 16),
    ]);
    await prompt(300);
    expect(backend['llama'].submitOperations).toBe(2e11);
    await prompt(10);
    expect(backend['llama'].submitOperations).toBe(8e11); // 10 of the 80 ms, as a power of two
    now.mockRestore();
    closely.mockRestore();
  });

  test('that is stopped keeps what is done, and the next request goes on from there', async () => {
    const session = numberSession(await toyBackend(await testGpu(), 4 * TOY_PASS));
    let asked = 0;
    const stop = await ask(session, input, { temperature: 0, maxTokens: 4 }, { stopped: () => ++asked > 2 });
    expect(stop.done.finishReason).toBe('abort');
    expect(stop.ids).toEqual([]);
    expect(stop.prefill.map(({ done }) => done)).toEqual([0, TOY_PASS]);
    const next = await ask(session, input, { temperature: 0, maxTokens: 4 });
    expect(next.done.usage.cachedTokens).toBe(TOY_PASS);
    expect(next.ids).toEqual(toyIds(long, 4));
  });
});

describe('a device that is lost', () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown) => rejections.push(reason);
  afterEach(() => process.off('unhandledRejection', note));

  test.each([8, 'shared'] as const)('with steps in flight (%s) is one typed error', async (depth) => {
    process.on('unhandledRejection', note);
    const gpu = await testGpu(depth === 8 ? ['timestamps'] : ['timestamps', 'subgroups']); // a device of its own
    const session = numberSession(await toyBackend(gpu, 400));
    if (depth === 'shared') session.runAhead = sharedRunAhead();
    const onToken = (tokens: number) => {
      if (tokens === 21) gpu.device.destroy();
    };
    const options = { temperature: 0, runAhead: depth === 8 ? depth : ('auto' as const) };
    await expect(ask(session, INPUT, options, { onToken })).rejects.toMatchObject({ code: 'device-lost' });
    await expect(ask(session, INPUT, options)).rejects.toMatchObject({ code: 'device-lost' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(rejections).toEqual([]);
  });
});
