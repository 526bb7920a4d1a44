// Answers that step together on the GPU: a tiny model whose requests join a batch and leave it. Each has the very ids that it
// has alone, and its own end.

import { beforeAll, describe, expect, test } from 'vitest';
import type { Batching } from '../../../src/engine/backend/backend';
import type { WebGpuBackend } from '../../../src/engine/backend/webgpu_backend';
import type { EngineEvent, GenerateOptions } from '../../../src/engine/protocol';
import { Batches } from '../../../src/engine/worker/batch/batches';
import { generate } from '../../../src/engine/worker/generate';
import { Branches } from '../../../src/engine/worker/prefix_cache/branches';
import type { Session } from '../../../src/engine/worker/request/session';
import { Turns } from '../../../src/engine/worker/turns/turns';
import { GpuMemoryError, GpuProgramError } from '../../../src/errors';
import { GAVE_UP } from '../../../src/sampling/sampling';
import { testGpu } from '../../gpu/test_device';
import { ask, byteSession, regexConstraint, tinyBackend } from '../doubles/loop_session';

const numbers = (first: number, count: number) => Array.from({ length: count }, (_, i) => (first + 7 * i) % 250);
const SAMPLED = { temperature: 0.9, topK: 0, topP: 1, minP: 0 };

interface Asked {
  ids: readonly number[];
  options: GenerateOptions;
  /** A regular expression of the answer. */
  source?: string;
  /** Stops after so many tokens. */
  stopAfter?: number;
  /** Called once, with its fifth token. */
  onFive?(): void;
}

const ASKED: readonly Asked[] = [
  { ids: numbers(3, 20), options: { temperature: 0, seed: 1, maxTokens: 40 } },
  { ids: numbers(5, 9), options: { ...SAMPLED, seed: 7, maxTokens: 60 } },
  { ids: numbers(9, 31), options: { ...SAMPLED, seed: 8, maxTokens: 70, topK: 20, gpuTimes: true } },
  { ids: numbers(11, 12), options: { ...SAMPLED, seed: 9, maxTokens: 90, topP: 0.9 }, stopAfter: 30 },
  { ids: numbers(13, 12), options: { ...SAMPLED, seed: 9, maxTokens: 60, repetitionPenalty: 1.3, minTokens: 9 } },
  { ids: numbers(15, 12), options: { ...SAMPLED, seed: 9, maxTokens: 70, logprobs: 2 } },
  { ids: numbers(17, 12), options: { ...SAMPLED, seed: 9, maxTokens: 70, logprobs: 0, presencePenalty: 0.5 } },
];

const CONSTRAINED: readonly Asked[] = [
  { ids: numbers(19, 12), options: { ...SAMPLED, seed: 9, maxTokens: 60 }, source: '([a-d]\\d{1,3}){20,}' },
  {
    ids: numbers(21, 15),
    options: { ...SAMPLED, seed: 11, maxTokens: 60, logprobs: 2, frequencyPenalty: 0.5, logitBias: { 110: 3 } },
    source: '(x[m-z]{2}7?){15,}',
  },
];
/** An automaton that is too large for a batch. */
const HUGE: Asked = { ...CONSTRAINED[0], source: '( [1-4]\\d{0,2}){1,15600}' };

let backend: WebGpuBackend;
let session: Session;
let turns: Turns;
/** The steps of batches, by the requests in each. */
let steps: number[];
/** What was asked of each batch. */
let plain: boolean[];
/** Steps of batches before one gives up, and with it all behind it. */
let givesUpAfter: number;
/** The cost of a step of a batch. */
let cost: number;
/** The cost once it is sure, if it is not yet. */
let sureCost: number | null;
/** The clock of batches. */
let nowMs: number;
/** Most positions of a slot. */
let mostRoom: number;
/** Most positions of all slots for which there is memory. */
let mostMemory: number;
/** The fewest leading tokens that a slot can give. */
let slotLeast: number;
/** What a batch cannot do. */
let refused: 'logprobs' | 'constraint' | 'clock' | null;
/** The GPU's times of the steps of batches. */
let stepTimes: (number | null)[];
/** Takes the place of the times of the batches' steps: the number of the first step of a readback, above those of others. */
const MARKED_MS = 1e6;

beforeAll(async () => {
  await import('../../../src/engine/worker/batch/batch_turns'); // a late part leaves the requests to their turns
  backend = await tinyBackend(await testGpu(), 128);
  await backend.prepareBatch(8, 128); // or requests take turns until it is compiled
  const make = backend.batch.bind(backend);
  backend.batch = async (asked) => {
    plain.push(asked.plain);
    if (asked.slots * asked.room > mostMemory) throw new GpuMemoryError('batch', 0, null, 'A test.');
    if (asked.least > mostRoom) return null;
    const batching = (await make({ ...asked, room: Math.min(asked.room, mostRoom) })) as Batching;
    let members = 0;
    const found = cost;
    const isCostSure = sureCost === null;
    cost = sureCost ?? cost;
    sureCost = null;
    return {
      ...batching,
      cost: () => found,
      isCostSure,
      fill: (...asked) => Object.defineProperty(batching.fill(...asked), 'least', { value: slotLeast }),
      reportLogprobs: async () => {
        if (refused === 'logprobs') throw new GpuProgramError('a test', 'A test.');
        await batching.reportLogprobs();
      },
      openClock: async () => {
        if (refused === 'clock') throw new GpuMemoryError('a test', 0, null, 'A test.');
        await batching.openClock();
      },
      async constrain(slot, constraint) {
        if (refused === 'constraint') throw new GpuMemoryError('a test', 0, null, 'A test.');
        await batching.constrain(slot, constraint);
      },
      setMembers(next) {
        members = next.length;
        batching.setMembers(next);
      },
      steps(count, timed) {
        const first = steps.length;
        steps.push(...Array(count).fill(members));
        const gaveUp = (i: number) => !asked.plain && first + i >= givesUpAfter;
        return batching.steps(count, timed).then((all) => {
          for (const each of all.slots) {
            const ids = 'ids' in each ? each.ids : each;
            for (let i = 0; i < count; i++) if (gaveUp(i)) ids[i] = GAVE_UP;
          }
          stepTimes.push(...Array<number | null>(count).fill(all.stepMs));
          return { ...all, stepMs: all.stepMs === null ? null : MARKED_MS + first };
        });
      },
    };
  };
});

function open(budget = 1e9, most = 8, batchCost = 1) {
  let ticks = 0;
  cost = batchCost;
  sureCost = null;
  nowMs = 0;
  steps = [];
  plain = [];
  stepTimes = [];
  givesUpAfter = Number.POSITIVE_INFINITY;
  mostRoom = Number.POSITIVE_INFINITY;
  mostMemory = Number.POSITIVE_INFINITY;
  slotLeast = 0;
  refused = null;
  turns = new Turns(20, () => ticks++);
  turns.most = most;
  session = byteSession(backend);
  session.branches = new Branches(backend.parking, budget);
  session.batches = new Batches(session, turns, () => nowMs);
}

/** Gives up all branches, and memory for another one, which may still be on its way. */
async function giveUpBranches() {
  await session.branches?.makeReady(session);
  session.branches?.giveUp();
}

async function run({ ids, options, source, stopAfter = Number.POSITIVE_INFINITY, onFive }: Asked) {
  const events: EngineEvent[] = [];
  const tokens = () => events.filter((event) => event.type === 'token');
  const stopped = () => tokens().length >= stopAfter;
  const turn = await turns.enter({ stopped });
  const emit = (more: readonly EngineEvent[]) => {
    const before = tokens().length;
    events.push(...more);
    if (before < 5 && tokens().length >= 5) onFive?.();
  };
  const all = { ...options, reuseCache: false, ignoreEos: source === undefined };
  const constraint = source === undefined ? undefined : regexConstraint(source);
  await generate(session, { ids }, all, emit, stopped, undefined, constraint, turn!).finally(() => turn!.leave());
  const done = events.find((event) => event.type === 'done');
  const said = { ids: tokens().map(({ id }) => id), reason: done?.finishReason, usage: done?.usage };
  return { said, done, tokens: tokens(), gpuMs: events.find((event) => event.type === 'gpuTimes')?.gpuMs };
}

type Ran = Awaited<ReturnType<typeof run>>;

/** Of all tests, by what was asked: the answer to a request that is alone is the same in each. */
const answersAlone = new Map<string, Ran>();

async function alone(asked: readonly Asked[]): Promise<Ran[]> {
  const answers: Ran[] = [];
  for (const each of asked) {
    const key = JSON.stringify(each);
    const answer = answersAlone.get(key) ?? (await run(each));
    answersAlone.set(key, answer);
    answers.push(answer);
  }
  return answers;
}

/** The last one begins alone, and the others with its fifth token. */
async function atFive(asked: readonly Asked[]): Promise<Ran[]> {
  const others: Promise<Ran>[] = [];
  const onFive = () => others.push(...asked.slice(0, -1).map(run));
  const last = await run({ ...asked[asked.length - 1], onFive });
  return [...(await Promise.all(others)), last];
}

/** A stop is heard with the next token: how many come before the end differs. */
const upToStop = ({ said }: Ran, { stopAfter }: Asked) => (stopAfter ? said.ids.slice(0, stopAfter) : said);

/** Two equal answers have the same log probabilities, up to the last bits of the logits. */
function expectClose(found: Ran, wanted: Ran): void {
  const numbers = ({ tokens }: Ran) =>
    tokens.map(({ logprobs }) => [logprobs?.chosen, ...(logprobs?.top ?? [])].map((each) => each?.logprob));
  const close = (each: number | undefined) => each && expect.closeTo(each, 4);
  expect(numbers(found)).toEqual(numbers(wanted).map((each) => each.map(close)));
}

describe('answers at once', () => {
  test('step together, and are those of each alone', async () => {
    open();
    const expected = await alone(ASKED);
    expect(steps).toEqual([]);
    await giveUpBranches();
    const { allocatedBytes } = backend['gpu'];
    const answers = await Promise.all(ASKED.map(run));
    for (const [i, asked] of ASKED.entries()) expect(upToStop(answers[i], asked)).toEqual(upToStop(expected[i], asked));
    expect(answers[3].said.reason).toBe('abort');
    expect(Math.max(...steps)).toBe(7);
    for (const i of [4, 5, 6]) expectClose(answers[i], expected[i]);
    expect(steps.filter((members) => members > 1).length).toBeGreaterThan(30);
    for (const { done, tokens } of answers) {
      expect(done?.metrics.tbtMs.perToken.length).toBe(tokens.length - 1);
      expect(done?.metrics.perToken?.dispatches).toBeGreaterThan(0);
    }
    expect(answers.map(({ done }) => done?.metrics.batchSize)).toEqual(Array(7).fill(7));
    expect(expected.map(({ done }) => done?.metrics.batchSize)).toEqual(Array(7).fill(undefined));
    await giveUpBranches();
    expect([backend['gpu'].allocatedBytes, backend['gpu'].failure]).toEqual([allocatedBytes, null]);
    expect([session.branches?.held.bytes, session.batches?.running.size]).toEqual([0, 0]);
  });

  test.each(['end', 'give up'])("have the GPU's time of each step, up to its %s", async (end) => {
    open();
    if (end === 'give up') givesUpAfter = 9;
    const asked = [ASKED[0], ASKED[5], CONSTRAINED[1], ASKED[1]].map((each, i) => {
      const maxTokens = [24, 60, 50, 115][i]; // the last goes on by itself
      return { ...each, options: { ...each.options, maxTokens, gpuTimes: i !== 2 } };
    });
    const expected = await alone(asked);
    const answers = await atFive(asked);
    expectClose(answers[1], expected[1]);
    expect(stepTimes.every((ms) => ms === null || (ms > 0 && ms < 1e5))).toBe(true);
    for (const [i, { said, gpuMs, tokens }] of answers.entries()) {
      expect(said).toEqual(expected[i].said);
      expect(gpuMs?.perToken.length).toBe(i === 2 ? undefined : tokens.length - 1);
      const marked = gpuMs?.perToken.filter((ms) => ms >= MARKED_MS) ?? [];
      expect(marked).toEqual(marked.toSorted((a, b) => a - b));
      expect(marked.length > 0).toBe(i !== 2);
    }
    const last = answers[3].gpuMs?.perToken ?? [];
    expect(last[0]).toBeLessThan(MARKED_MS); // it came by itself
    expect(last.at(-1)).toBeLessThan(MARKED_MS); // it ended by itself
  });

  test('without memory for a clock have the times of the steps before the batch', async () => {
    open();
    refused = 'clock';
    const asked = [ASKED[0], ASKED[2]];
    const expected = await alone(asked);
    const answers = await atFive(asked);
    expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
    expect(Math.max(...steps)).toBe(2);
    expect(stepTimes.every((ms) => ms === null)).toBe(true);
    const { perToken = [] } = answers[1].gpuMs ?? {};
    expect(perToken.length).toBeGreaterThan(0);
    expect(perToken.length).toBeLessThan(answers[1].tokens.length - 1);
  });

  test('step together where some have constraints, each in its slot', async () => {
    open();
    const asked = [...CONSTRAINED, ASKED[4], ASKED[0], CONSTRAINED[0], ASKED[1]];
    const expected = await alone(asked);
    await giveUpBranches();
    const { allocatedBytes } = backend['gpu'];
    const rounds = [asked, asked.toReversed()]; // other slots
    for (const round of rounds) {
      const answers = await Promise.all(round.map(run));
      if (round !== asked) answers.reverse();
      expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
      expectClose(answers[1], expected[1]);
    }
    expect([plain.length, Math.max(...steps)]).toEqual([2, 6]);
    for (const [i, { source }] of CONSTRAINED.entries()) {
      const { ids } = expected[i].said;
      expect(ids.length).toBeGreaterThan(20);
      expect(String.fromCharCode(...ids)).toMatch(new RegExp(`^${source?.slice(0, source.lastIndexOf('{'))}`));
    }
    await giveUpBranches();
    expect([backend['gpu'].allocatedBytes, backend['gpu'].failure]).toEqual([allocatedBytes, null]);
  });

  test.each(['too large', 'refused'])(
    'a request whose constraint is %s takes turns, and others step together',
    async (why) => {
      open();
      if (why === 'refused') refused = 'constraint';
      const asked = [ASKED[0], why === 'refused' ? CONSTRAINED[0] : HUGE, ASKED[1]];
      const expected = await alone(asked);
      const answers = await Promise.all(asked.map(run));
      expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
      expect(Math.max(...steps)).toBe(2);
    },
  );

  test('one that is left goes on by itself, and its conversation is found again', async () => {
    open();
    const [long, short] = [ASKED[0], { ...ASKED[1], options: { ...ASKED[1].options, maxTokens: 28 } }];
    const expected = await alone([long, short]);
    const answers = await Promise.all([long, short].map(run));
    expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.length).toBeLessThan(40);
    const ids = [...short.ids, ...answers[1].said.ids];
    const again = await run({ ids, options: { ...short.options, maxTokens: 1 } });
    expect(again.said.ids.length).toBe(1);
  });

  test.each([30, 45, 60, 75])(
    'one that is left (%s tokens) leaves the batch where that is worth its copies',
    async (most) => {
      open();
      const asked = [ASKED[0], ASKED[1]].map(({ ids, options }, i) => {
        return { ids, options: { ...options, maxTokens: i === 0 ? 50 : most, gpuTimes: true } };
      });
      const expected = await alone(asked);
      const answers = await Promise.all(asked.map(run));
      expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
      const byItself = answers.map(({ gpuMs }) =>
        (gpuMs?.perToken ?? []).toReversed().findIndex((ms) => ms >= MARKED_MS),
      );
      expect(byItself.every((steps) => steps === 0 || steps >= 16)).toBe(true);
    },
  );

  test('one that fills its slot goes on by itself, and does not wait for the others to end', async () => {
    open();
    mostRoom = 100;
    const long = { ids: numbers(3, 60), options: { temperature: 0, maxTokens: 48 } };
    const short = { ids: numbers(5, 5), options: { temperature: 0, maxTokens: 90 } };
    const expected = await alone([long, short]);
    const ends: Asked[] = [];
    const answers = await Promise.all([long, short].map((asked) => run(asked).finally(() => ends.push(asked))));
    expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
    expect(steps).toContain(2);
    expect(steps.length - steps.lastIndexOf(2)).toBeLessThan(20); // who is left has 30 tokens to go, in turns
    expect(ends).toEqual([long, short]);
  });

  test('a conversation whose slot has lost its beginning is found whole, and not in part', async () => {
    open();
    slotLeast = 30;
    const [long, short] = [ASKED[0], { ids: numbers(5, 20), options: { temperature: 0, maxTokens: 24 } }];
    const [, { said }] = await Promise.all([long, short].map(run));
    expect(steps).toContain(2);
    const whole = [...short.ids, ...said.ids];
    const cached = async (ids: readonly number[]) =>
      (await ask(session, { ids: [...ids] }, { temperature: 0, maxTokens: 1 })).done.usage.cachedTokens;
    expect(await cached([...whole.slice(0, 24), 255, 254])).toBe(0);
    expect(await cached(whole)).toBe(whole.length - 1);
  });

  test('a batch without room for the conversation that asked for it leaves no memory behind', async () => {
    open();
    mostRoom = 64;
    const asked = [3, 5].map((first) => ({ ids: numbers(first, 50), options: { temperature: 0, maxTokens: 40 } }));
    const expected = await alone(asked);
    await giveUpBranches();
    const { allocatedBytes } = backend['gpu'];
    const answers = await Promise.all(asked.map(run));
    expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
    expect(steps).toEqual([]);
    await giveUpBranches();
    expect(backend['gpu'].allocatedBytes).toBe(allocatedBytes);
    expect(session.branches?.held.bytes).toBe(0);
  });

  test('conversations too long for two slots take turns, and later ones step together', async () => {
    open();
    mostRoom = 64;
    const long = [3, 5].map((first) => ({ ids: numbers(first, 50), options: { temperature: 0, maxTokens: 40 } }));
    const short = [7, 9].map((first) => ({ ids: numbers(first, 9), options: { temperature: 0, maxTokens: 40 } }));
    const expected = await alone([...long, ...short]);
    const answers = [...(await Promise.all(long.map(run))), ...(await Promise.all(short.map(run)))];
    expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
    expect(steps).toContain(2);
    const asks = plain.length;
    await Promise.all(long.map(run));
    expect(plain.length).toBe(asks);
  });

  test('where memory is refused, smaller slots are asked for', async () => {
    open();
    mostMemory = 200;
    const asked = [3, 5].map((first) => ({ ids: numbers(first, 9), options: { temperature: 0, maxTokens: 50 } }));
    const expected = await alone(asked);
    const answers = await Promise.all(asked.map(run));
    expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
    expect(steps).toContain(2);
  });

  test('of a model that steps for one request at a time, no batch is asked for', async () => {
    open();
    const { prepareBatch } = backend;
    backend.prepareBatch = () => Promise.resolve(false);
    const asked = ASKED.slice(0, 2);
    const expected = await alone(asked);
    const answers = await Promise.all(asked.map(run));
    backend.prepareBatch = prepareBatch;
    expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
    expect(plain).toEqual([]);
  });

  test('where its readback is refused, a batch leaves no memory behind', async () => {
    open();
    await run(ASKED[0]);
    const gpu = backend['gpu'];
    const { allocatedBytes, createBuffer } = gpu;
    gpu.createBuffer = (label, size, usage) => {
      if (label.startsWith('readback.')) throw new GpuMemoryError(label, size, null, 'A test.');
      return createBuffer.call(gpu, label, size, usage);
    };
    const ids = Uint32Array.from([...ASKED[0].ids, 1]);
    const made = backend.batch({ slots: 2, room: 64, least: ids.length, ids, plain: false });
    await expect(made.finally(() => Object.assign(gpu, { createBuffer }))).rejects.toThrow(GpuMemoryError);
    expect(gpu.allocatedBytes).toBe(allocatedBytes);
  });

  test('where bindings are small, a batch has as many slots as have room for the conversation', async () => {
    const gpu = await testGpu(); // which has compiled most of it
    const plannedBinding = gpu['plannedBinding'];
    const small = await tinyBackend(gpu, 512);
    const nLayers = small['llama'].batchSources.kvCache.k.length;
    const bytes = (1280 * small.parking.bytesPerToken) / 2 + 256 * nLayers;
    const slots = async (length: number, binding: number) => {
      Object.assign(gpu, { plannedBinding: binding });
      const ids = Uint32Array.from(numbers(3, length));
      const made = small.batch({ slots: 8, room: 512, least: length, ids, plain: false });
      const batching = await made.finally(() => Object.assign(gpu, { plannedBinding }));
      batching?.destroy();
      await gpu.settled();
      return batching && [batching.slots, batching.room];
    };
    expect(await slots(120, bytes)).toEqual([8, 160]);
    expect(await slots(240, bytes)).toEqual([5, 256]);
    expect(await slots(400, bytes / 2)).toBeNull();
  });

  test('after a step that gave up each goes on where it was, and later batches are plain', async () => {
    open();
    const asked = [...ASKED.slice(0, 3), CONSTRAINED[0]];
    const expected = await alone(asked);
    givesUpAfter = 9;
    const answers = await Promise.all(asked.map(run));
    expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
    expect(plain.slice(0, 2)).toEqual([false, true]);
    expect(plain.lastIndexOf(false)).toBe(0);
    expect(answers.every(({ done }) => done?.metrics.tbtMs.perToken.length)).toBe(true);
    await giveUpBranches();
    expect([session.branches?.held.bytes, session.batches?.running.size]).toEqual([0, 0]);
  });

  test('where a batch cannot report log probabilities, requests for them take turns, and others step together', async () => {
    open();
    refused = 'logprobs';
    const asked = [ASKED[0], ASKED[1], ASKED[5]];
    const expected = await alone(asked);
    const answers = await Promise.all(asked.map(run));
    expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
    expectClose(answers[2], expected[2]);
    expect(Math.max(...steps)).toBe(2);
  });

  test('a batch that is slower than turns is left for good', async () => {
    open(1e9, 8, 2.5);
    const asked = ASKED.slice(0, 2);
    const expected = await alone(asked);
    const answers = await Promise.all(asked.map(run));
    expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
    await Promise.all(asked.map(run));
    expect([plain.length, steps.length]).toEqual([1, 0]);
    await Promise.all(ASKED.slice(0, 4).map(run));
    expect(Math.max(...steps)).toBe(4); // more of them are worth it
  });

  test('a batch that was slower than turns on a GPU that idled is timed anew after a while, and steps', async () => {
    open(1e9, 8, 2.5);
    sureCost = 1;
    const asked = ASKED.slice(0, 2);
    const expected = await alone(asked);
    await Promise.all(asked.map(run));
    await Promise.all(asked.map(run));
    expect([plain.length, steps.length]).toEqual([1, 0]);
    nowMs = 2000;
    const answers = await Promise.all(asked.map(run));
    expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
    expect(plain.length).toBe(2);
    expect(Math.max(...steps)).toBe(2);
  });

  test('a batch that cannot be made, or is wrong on this GPU, is asked for once, and requests take turns', async () => {
    open();
    const { batch } = backend;
    let asks = 0;
    backend.batch = () => {
      asks++;
      return Promise.reject(new GpuProgramError('model/batch', 'A test.'));
    };
    const asked = ASKED.slice(0, 3);
    const answers = await Promise.all(asked.map(run));
    backend.batch = batch;
    expect(asks).toBe(1);
    const expected = await alone(asked);
    expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
  });

  test.each([
    ['no budget', 1, 8],
    ['one at a time', 1e9, 1],
  ])('%s: no batch, and the same answers', async (_, budget, most) => {
    open(budget, most);
    const asked = ASKED.slice(0, 2);
    const expected = await alone(asked);
    const answers = await Promise.all(asked.map(run));
    expect(answers.map(({ said }) => said)).toEqual(expected.map(({ said }) => said));
    expect(steps).toEqual([]);
  });
});
