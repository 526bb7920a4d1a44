// The decision between fused and plain steps, on a model whose times, values and give-ups are made up. The loop of a
// fused step that is wrong on a GPU is in test/engine/loop/fused_loop.test.ts.

import { beforeEach, describe, expect, test, vi } from 'vitest';
import { timePass } from '../../src/gpu/time_pass';
import { type FusedLayers, type FusedStep, LONG_CONTEXT } from '../../src/model/step/fused_step';
import { decideStep, type KnownStep, type SteppedModel } from '../../src/tune/step';
import { testGpu } from '../gpu/test_device';

vi.mock('../../src/gpu/time_pass', () => ({ timePass: vi.fn() }));

interface Script {
  /** Milliseconds of a poll of a lonely workgroup. */
  pollMs: number;
  plainMs: number;
  fusedMs: number;
  /** Milliseconds of a step by lanes, where there is one. */
  lanesMs?: number;
  /** Milliseconds of each behind a long cache. */
  farMs?: { plain: number; fused: number; lanes?: number };
  contextLength?: number;
  /** x after a fused step; after a plain one it is 3, 4. */
  x: number[];
  /** x after a step by lanes. */
  lanesX?: number[];
  /** The fused step that gives up: the one that is compared, or one of those that are timed. */
  givesUp: 'compared' | 'timed' | null;
}

type Run = 'lonely' | 'plain' | 'fused' | 'lanes';

class ScriptedModel implements SteppedModel {
  readonly contextLength: number;
  readonly fused: FusedStep;
  /** Polls of a wait since the last reset, and whether a step has given up since. */
  spins = 0;
  gaveUp = false;
  timed: Run[] = [];
  prompted = 0;
  recorded: Run = 'plain';
  position = 0;

  constructor(private readonly script: Script) {
    this.contextLength = script.contextLength ?? 64;
    const fused: Pick<FusedStep, 'reset' | 'recordLonely' | 'gaveUp' | 'launch' | 'tiles' | 'lanes'> = {
      launch: { groups: 96, threads: 512 },
      tiles: { record: () => {} },
      lanes: script.lanesMs === undefined ? null : { record: () => {} },
      reset: (spins) => {
        this.spins = spins;
        this.gaveUp = false;
      },
      recordLonely: () => {
        this.recorded = 'lonely';
      },
      gaveUp: async () => this.gaveUp,
    };
    this.fused = fused as FusedStep;
  }

  recordStep(_list: unknown, position: number, layers: FusedLayers | null): void {
    this.position = position;
    this.recorded = layers === null ? 'plain' : layers === this.fused.lanes ? 'lanes' : 'fused';
  }

  async runPrompt(nTokens: number): Promise<void> {
    this.prompted = nTokens;
  }

  async readX(): Promise<Float32Array> {
    if (this.recorded === 'plain') return Float32Array.of(3, 4);
    this.gaveUp = this.script.givesUp === 'compared';
    return Float32Array.from((this.recorded === 'lanes' && this.script.lanesX) || this.script.x);
  }

  /** Milliseconds of the newest recording. */
  run(): number {
    const { pollMs, givesUp, farMs } = this.script;
    const isFar = farMs && this.position > 512;
    const { plainMs, fusedMs } = isFar ? { plainMs: farMs.plain, fusedMs: farMs.fused } : this.script;
    const lanesMs = (isFar ? farMs.lanes : this.script.lanesMs) ?? Number.NaN;
    const run = this.recorded;
    if (run === 'plain') return plainMs;
    if (this.gaveUp) return 0; // a dispatch returns at once
    this.gaveUp = run === 'lonely' || givesUp === 'timed';
    if (run === 'lanes') return lanesMs;
    return run === 'lonely' ? this.spins * pollMs : fusedMs;
  }
}

const FASTER: Script = { pollMs: 1e-4, plainMs: 0.6, fusedMs: 0.4, x: [3, 4.01], givesUp: null };

async function decide(change: Partial<Script>, forced = false, known: KnownStep | null = null) {
  const model = new ScriptedModel({ ...FASTER, ...change });
  // As the real one does: a list that never runs, one run that is dropped, one that counts.
  vi.mocked(timePass).mockImplementation(async (_gpu, _step, add) => {
    const times = [0, 1, 2].map((i) => {
      add({} as never, 0);
      return i === 0 ? 0 : model.run();
    });
    model.timed.push(model.recorded);
    return { ms: times[2], repeats: 1, clock: 'gpu' };
  });
  const decision = await decideStep(await testGpu(), model, forced, known);
  return { model, decision, timed: model.timed.filter((run) => run !== 'lonely') };
}

beforeEach(() => {
  vi.mocked(timePass).mockReset();
});

test('nothing to decide without a fused step', async () => {
  const model = Object.assign(new ScriptedModel(FASTER), { fused: null });
  expect(await decideStep(await testGpu(), model, false)).toBeNull();
  expect(timePass).not.toHaveBeenCalled();
});

test.each([
  ['0.1 microseconds a poll', 1e-4, 80_000],
  ['1 microsecond a poll', 1e-3, 8000],
  ['0.01 microseconds a poll', 1e-5, 800_000],
  ['polls too slow to count: the fewest', 0.1, 4096],
  ['a wait that takes no time: the most', 0, 1 << 22],
])('a wait takes 8 ms: %s', async (_title, pollMs, spins) => {
  const { decision, model } = await decide({ pollMs });
  expect(decision?.spins).toBe(spins);
  expect(model.spins).toBe(spins);
});

describe('plain', () => {
  test('where not all workgroups run at once', async () => {
    const { decision, timed } = await decide({ givesUp: 'compared' });
    expect(decision).toMatchObject({ name: 'plain', reason: 'its 96 workgroups did not all run at once', gain: null });
    expect(timed).toEqual([]);
  });

  test.each([
    [[3, 4.5], '10.0%'],
    [[0, 0], '100.0%'],
    [[3, Number.NaN], 'Infinity%'],
  ])('where x is %s and not 3, 4', async (x, off) => {
    const { decision, timed, model } = await decide({ x });
    const reason = `the fused step is ${off} off plain steps, more than 5%`;
    expect(decision).toMatchObject({ name: 'plain', reason, gain: null });
    expect(timed).toEqual([]);
    expect(model.prompted).toBe(25);
  });

  test('where a step gives up while it is timed', async () => {
    const { decision } = await decide({ givesUp: 'timed' });
    expect(decision).toMatchObject({ name: 'plain', reason: 'its workgroups did not go on waiting for one another' });
  });

  test.each([
    [0.5, 0.4, 'the fused step took 0.500 ms, plain steps 0.400 ms'],
    [0.4, 0.416, 'the fused step took 0.400 ms, plain steps 0.416 ms'],
  ])('where a fused step takes %f ms and a plain one %f', async (fusedMs, plainMs, reason) => {
    const { decision, timed } = await decide({ fusedMs, plainMs });
    expect(decision).toMatchObject({ name: 'plain', reason });
    expect(decision?.gain).toBeCloseTo(plainMs / fusedMs - 1, 9);
    expect(timed).toEqual(['plain', 'fused', 'plain', 'fused']);
  });
});

describe('fused', () => {
  test('where it is faster by 5 %', async () => {
    const { decision } = await decide({ fusedMs: 0.4, plainMs: 0.424 });
    expect(decision).toMatchObject({ name: 'fused', reason: '0.400 ms a step here, 0.424 ms as plain steps' });
    const longer = await decide({ contextLength: 128 }, false, decision);
    expect(longer.decision?.until).toBeGreaterThanOrEqual(128); // the same key in a profile may be of a longer context
    expect(decision?.gain).toBeCloseTo(0.06, 9);
  });

  test.each([
    ['and at the end of a long context: to the end, also of a longer one', { plain: 1, fused: 0.9 }, 2 ** 31 - 1],
    ['and not at the end: up to where both take as long', { plain: 1, fused: 1.4 }, 512 + (8000 - 512) / 3],
  ])('behind 512 tokens %s', async (_title, farMs, until) => {
    const { decision } = await decide({ contextLength: 8002, farMs });
    expect(decision).toMatchObject({ name: 'fused', until: Math.round(until) });
    if (until < 8000) expect(decision?.reason).toContain(`; plain from ${Math.round(until)} tokens on`);
  });

  const TO_THE_END = 2 ** 31 - 1;
  test.each([
    [
      'lanes faster at the end: from where both take as long',
      { plain: 1, fused: 1.4, lanes: 0.9 },
      512 + 7488 / 6,
      TO_THE_END,
    ],
    ['lanes slower: never', { plain: 1, fused: 0.9, lanes: 0.95 }, TO_THE_END, TO_THE_END],
    ['plain steps faster than lanes at the end', { plain: 1, fused: 1.4, lanes: 1.1 }, 512 + 7488 / 4, 512 + 7488 / 2],
  ])('with lanes behind long caches: %s', async (_title, farMs, lanesFrom, until) => {
    const { decision } = await decide({ contextLength: 8002, lanesMs: 0.5, farMs });
    expect(decision).toMatchObject({ name: 'fused', lanesFrom: Math.round(lanesFrom), until: Math.round(until) });
  });

  test.each([
    [LONG_CONTEXT, 512 + Math.round((LONG_CONTEXT - 2 - 512) / 6)],
    [LONG_CONTEXT - 1, TO_THE_END],
  ])('a context of %i tokens: lanes from %i on', async (contextLength, lanesFrom) => {
    const farMs = { plain: 1, fused: 1.4, lanes: 0.9 };
    const { decision } = await decide({ contextLength, lanesMs: 0.5, farMs });
    expect(decision).toMatchObject({ name: 'fused', lanesFrom });
  });

  test('no lanes where they are wrong', async () => {
    const farMs = { plain: 1, fused: 1.4, lanes: 0.9 };
    const { decision, timed } = await decide({ contextLength: 8002, lanesMs: 0.5, lanesX: [4, 3], farMs });
    expect(decision).toMatchObject({ name: 'fused', lanesFrom: TO_THE_END });
    expect(timed).not.toContain('lanes');
  });

  test('by name wherever it is right, with its gain', async () => {
    const { decision } = await decide({ fusedMs: 0.8, plainMs: 0.4 }, true);
    expect(decision).toMatchObject({ name: 'fused', reason: 'asked for by name', gain: -0.5 });
    expect((await decide({ x: [4, 3] }, true)).decision?.name).toBe('plain');
    expect((await decide({ givesUp: 'compared' }, true)).decision?.name).toBe('plain');
  });
});

describe('known from the profile', () => {
  const known: KnownStep = {
    name: 'fused',
    reason: 'measured yesterday',
    gain: 0.3,
    lanesFrom: 2 ** 31 - 1,
    until: 50,
  };

  test('is not timed again, but compared', async () => {
    const { decision, timed } = await decide({ fusedMs: 9 }, false, known);
    expect(decision).toEqual({ ...known, spins: 80_000 });
    expect(timed).toEqual([]);
    const wrong = await decide({ x: [4, 3] }, false, known);
    expect(wrong.decision).toMatchObject({ name: 'plain', reason: expect.stringContaining('% off plain steps') });
  });

  test('is timed where the step was asked for by name', async () => {
    const { decision, timed } = await decide({}, true, known);
    expect(decision).toMatchObject({ name: 'fused', reason: 'asked for by name' });
    expect(timed).toEqual(['plain', 'fused', 'plain', 'fused']);
  });
});
