// Turns of requests that are scripts: each says how long its steps take, and a clock of the test counts them.

import { expect, test } from 'vitest';
import { type Turn, Turns, type WaitReason } from '../../../../src/engine/worker/turns/turns';
import { nextTask } from '../../../../src/shared/next_task';

/** A machine that runs one step at a time. */
class Machine {
  now = 0;
  readonly turns: Turns;
  /** The names of the steps, in the order in which they ran. */
  readonly ran: string[] = [];
  readonly waits: [string, WaitReason][] = [];
  readonly stopped = new Set<string>();

  constructor(most: number, turnMs = 10) {
    this.turns = new Turns(turnMs, () => this.now);
    this.turns.most = most;
  }

  /** Runs steps of so many milliseconds. `onStep` runs after each. */
  async run(
    name: string,
    steps: readonly number[],
    options: { isAlone?: boolean; onStep?: (turn: Turn) => void } = {},
  ) {
    const { isAlone, onStep } = options;
    const stopped = () => this.stopped.has(name);
    const onWait = (reason: WaitReason) => void this.waits.push([name, reason]);
    const turn = await this.turns.enter({ stopped, isAlone, onWait });
    if (!turn) return 'stopped before';
    try {
      for (const [i, ms] of steps.entries()) {
        if (i > 0 && turn.isOver) await turn.giveWay();
        if (stopped()) return 'stopped';
        this.now += ms;
        this.ran.push(name);
        onStep?.(turn);
        await Promise.resolve();
      }
      return 'done';
    } finally {
      turn.leave();
    }
  }

  get order(): string {
    return this.ran.join('');
  }
}

const times = (count: number, ms: number) => Array<number>(count).fill(ms);

test('two requests take turns of some steps, and the second begins after the step that runs', async () => {
  const machine = new Machine(4);
  const both = [machine.run('a', times(10, 5)), machine.run('b', times(6, 5))];
  expect(await Promise.all(both)).toEqual(['done', 'done']);
  expect(machine.order).toBe('abbaabbaabbaaaaa');
  expect(machine.waits).toEqual([]);
});

test('a request with long steps gets as much time as one with short steps', async () => {
  const machine = new Machine(4);
  await Promise.all([machine.run('a', times(60, 5)), machine.run('b', times(3, 100))]);
  const first = machine.order.indexOf('b');
  const between = machine.order.slice(first).split('b')[1].length;
  expect([first, between]).toEqual([1, 20]);
});

test('three requests: nobody waits for more than the turns of the two others, and all get the same', async () => {
  const machine = new Machine(4);
  await Promise.all(['a', 'b', 'c'].map((name) => machine.run(name, times(40, 5))));
  for (const name of ['a', 'b', 'c']) {
    const own = machine.order.slice(0, machine.order.lastIndexOf(name));
    const waits = own.split(name).map(({ length }) => length);
    expect(Math.max(...waits)).toBeLessThanOrEqual(4);
    expect(machine.ran.slice(0, 60).filter((ran) => ran === name).length).toBeGreaterThanOrEqual(18);
  }
});

test('one that begins late gets no more than its share', async () => {
  const machine = new Machine(4);
  let late: Promise<unknown> | null = null;
  const onStep = () => {
    if (machine.ran.length === 100) late = machine.run('b', times(20, 5));
  };
  await machine.run('a', times(130, 5), { onStep });
  await late;
  const after = machine.order.slice(100);
  expect(after.startsWith('bb')).toBe(true);
  expect(after.slice(0, 40).split('a').length - 1).toBeGreaterThanOrEqual(18);
});

test('a pause in a turn is no reason for others to keep theirs as long', async () => {
  const machine = new Machine(4);
  const steps = [5, 600_000, ...times(10, 5)]; // the page slept
  await Promise.all([machine.run('a', steps), machine.run('b', times(1000, 5))]);
  const waits = machine.order
    .slice(0, machine.order.lastIndexOf('a'))
    .split('a')
    .map(({ length }) => length);
  expect(Math.max(...waits)).toBeLessThanOrEqual(402);
});

test('no more begin than may run at a time, in the order of their arrival; the others hear why they wait', async () => {
  const machine = new Machine(2);
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => machine.run(name, times(3, 5))));
  expect(machine.waits).toEqual([
    ['c', 'busy'],
    ['d', 'busy'],
  ]);
  expect([...new Set(machine.ran)]).toEqual(['a', 'b', 'c', 'd']);
  expect(machine.order.indexOf('c')).toBeGreaterThan(
    Math.min(machine.order.lastIndexOf('a'), machine.order.lastIndexOf('b')),
  );
});

test('one at a time is a queue', async () => {
  const machine = new Machine(1);
  await Promise.all(['a', 'b', 'c'].map((name) => machine.run(name, times(3, 50))));
  expect(machine.order).toBe('aaabbbccc');
});

test('nothing runs beside one that runs alone, and nobody overtakes it', async () => {
  const machine = new Machine(4);
  const all = [
    machine.run('a', times(4, 5)),
    machine.run('b', times(4, 5)),
    machine.run('T', times(4, 50), { isAlone: true }),
    machine.run('c', times(2, 5)),
  ];
  await Promise.all(all);
  expect(machine.order.slice(8)).toBe('TTTTcc');
  expect(machine.waits).toEqual([
    ['T', 'busy'],
    ['c', 'busy'],
  ]);
});

test('who cannot be set aside goes on to its end, and who waits hears why', async () => {
  const machine = new Machine(4);
  const onStep = (turn: Turn) => turn.stay();
  await Promise.all([machine.run('a', times(5, 50), { onStep }), machine.run('b', times(2, 5))]);
  expect(machine.order).toBe('aaaaabb');
  expect(machine.waits).toEqual([['b', 'memory']]);
});

test('who is stopped without its turn gets it after the step that runs; who has not begun never does', async () => {
  const machine = new Machine(2);
  const onStep = () => {
    if (machine.ran.length === 4) machine.stopped.add('b').add('c');
  };
  const all = [
    machine.run('a', times(9, 9), { onStep }),
    machine.run('b', times(9, 9), { onStep }),
    machine.run('c', times(9, 5)),
    machine.run('d', times(2, 9)),
  ];
  expect(await Promise.all(all)).toEqual(['done', 'stopped', 'stopped before', 'done']);
  expect(machine.order.replace(/b/g, '').length).toBe(11);
  expect(machine.order).not.toContain('c');
});

test('a failed request leaves its turn', async () => {
  const machine = new Machine(4);
  const fails = machine.run('a', times(4, 5), {
    onStep: () => {
      if (machine.ran.length === 4) throw new Error('a kernel');
    },
  });
  const goesOn = machine.run('b', times(9, 5));
  await expect(fails).rejects.toThrow('a kernel');
  expect(await goesOn).toBe('done');
  expect(await machine.run('c', [5])).toBe('done');
});

test('a batch gives way at once to a request that joins it, and to any other after its turn', async () => {
  const { turns } = new Machine(4);
  const stopped = () => false;
  const order: string[] = [];
  const enter = async (name: string, isBatch = false) => {
    const turn = (await turns.enter({ stopped, isBatch })) as Turn;
    order.push(name);
    return turn;
  };
  const giveWay = (turn: Turn, name: string) => void turn.giveWay().then(() => order.push(name));
  const a = await enter('a');
  const entered = enter('b');
  giveWay(a, 'a');
  const b = await entered;
  const batched = enter('batch', true);
  giveWay(b, 'b');
  const batch = await batched;
  expect(batch.isOver).toBe(false);
  b.joins = () => true;
  expect(batch.isOver).toBe(true);
  giveWay(batch, 'batch');
  await nextTask();
  expect(order).toEqual(['a', 'b', 'batch', 'b']);
  b.leave();
  await nextTask();
  expect(order.at(-1)).toBe('a');
});
