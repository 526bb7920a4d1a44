// The plan of faults in an address, and the moments that it names.

import { describe, expect, test, vi } from 'vitest';
import { FAULTS, type FaultName, faultNames, PlanError, parsePlan, planHelp, planned } from '../../tools/faults/plan';
import { type Happened, Schedule } from '../../tools/faults/schedule';

describe('plan', () => {
  test('names, keys and the seed are read; what is left out has its standard', () => {
    expect(parsePlan('gpu-destroy@submit:40/times:2,opfs-full,seed:7,network-slow@kb:20/for:1.5')).toEqual({
      seed: 7,
      faults: [
        { ...planned('gpu-destroy'), moment: { submit: 40 }, times: 2 },
        { ...planned('opfs-full'), moment: { call: 1 }, times: 1, seconds: null },
        { ...planned('network-slow'), kb: 20, seconds: 1.5 },
      ],
    });
    expect(parsePlan('')).toEqual({ seed: 1, faults: [] });
  });

  test('a group stands for all faults of its kind', () => {
    const names = parsePlan('storage-full').faults.map(({ name }) => name);
    expect(names).toEqual(['opfs-full', 'idb-full', 'cache-full', 'local-storage-full']);
  });

  test.each([
    'gpu-destory',
    'constructor',
    'gpu-oom@call',
    'gpu-oom@call:-1',
    'gpu-oom@call:x',
    'gpu-oom@calls:1',
    'gpu-oom@call:1/call:2',
    'gpu-oom@call:1/token:2',
    'gpu-oom@call:1@token:2',
    'gpu-destroy@call:1',
    'nan@chance:2',
    'seed:x',
    'seed:',
  ])('%s is refused with a list of what exists', (text) => {
    expect(() => parsePlan(text)).toThrow(PlanError);
    expect(() => parsePlan(text)).toThrow(planHelp());
    for (const name of faultNames()) expect(planHelp()).toContain(`  ${name}: ${FAULTS[name].what}`);
  });
});

describe('schedule', () => {
  function scheduleOf(text: string) {
    const acted: FaultName[] = [];
    const happened: Happened[] = [];
    const schedule = new Schedule(
      parsePlan(text),
      ({ name }) => acted.push(name),
      (what) => happened.push(what),
    );
    return { schedule, acted, happened };
  }

  test('what comes some time after a load began comes in one worker, not in the next', () => {
    vi.useFakeTimers();
    const { schedule, acted } = scheduleOf('worker-close@ms:5/times:0');
    schedule.loadBegan();
    const first = scheduleOf('worker-close@ms:5');
    first.schedule.loadBegan();
    vi.advanceTimersByTime(5);
    vi.useRealTimers();
    expect([acted, first.acted]).toEqual([[], ['worker-close']]);
  });

  test('one call fails, the N-th; a state goes on', () => {
    const { schedule, happened } = scheduleOf('gpu-oom@call:3,opfs-full@call:2');
    const calls = (name: FaultName) => [1, 2, 3, 4].map(() => schedule.strikes(name) !== null);
    expect(calls('gpu-oom')).toEqual([false, false, true, false]);
    expect(calls('opfs-full')).toEqual([false, true, true, true]);
    expect(happened.map(({ index, left }) => [index, left])).toEqual([
      [0, 0],
      [1, 0],
    ]);
  });

  test('acts come once in a thread, at their token or submit', () => {
    const { schedule, acted } = scheduleOf('worker-hang@token:2/times:9,gpu-destroy@submit:2,worker-throw@token:0');
    schedule.submitted();
    expect(acted).toEqual([]);
    schedule.submitted();
    expect(acted).toEqual(['gpu-destroy']);
    schedule.spoke(0);
    expect(acted).toEqual(['gpu-destroy', 'worker-throw']);
    for (let token = 0; token < 4; token++) schedule.spoke(1);
    expect(acted).toEqual(['gpu-destroy', 'worker-throw', 'worker-hang']);
  });

  test('what has happened in one worker does not happen in the next', () => {
    const { schedule, acted } = scheduleOf('gpu-destroy@submit:1/times:0,opfs-full@times:0');
    schedule.submitted();
    expect(acted).toEqual([]);
  });

  test('chances follow from the seed', () => {
    const strikes = (seed: number) => {
      const { schedule } = scheduleOf(`gpu-oom@chance:0.2/times:99,seed:${seed}`);
      return Array.from({ length: 60 }, (_, call) => (schedule.strikes('gpu-oom') ? call : [])).flat();
    };
    expect(strikes(3)).toEqual(strikes(3));
    expect(strikes(3)).not.toEqual(strikes(4));
    expect(strikes(3).length).toBeGreaterThan(4);
  });

  test('now: an act at once, a call at the next one', () => {
    const { schedule, acted } = scheduleOf('');
    schedule.now(planned('worker-close'));
    schedule.now(planned('gpu-oom'));
    expect(acted).toEqual(['worker-close']);
    expect([schedule.strikes('gpu-oom'), schedule.strikes('gpu-oom')]).toEqual([expect.anything(), null]);
  });
});
