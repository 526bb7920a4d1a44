// The random work and the random faults of a round, which follow from its seed. Pure.

import { randomSource } from '../../../test/random';

type Point = 'load' | 'prefill' | 'decode' | 'idle' | 'tune';

/** A fault while a task runs: planned for the workers of a load, or at once when so many tokens have come. */
export interface Strike {
  /** As in the address: see tools/faults/plan.ts. */
  fault: string;
  at: Point;
  /** For `decode`: after so many tokens. For other points: milliseconds after the task began. */
  after: number;
}

export type Task = {
  strike: Strike | null;
} & (
  | {
      kind: 'chat' | 'abort';
      prompt: string;
      temperature: number;
      seed: number;
      maxTokens: number;
      ignoreEos?: boolean;
      abortAfter: number;
    }
  | { kind: 'embed' | 'tokenize'; texts: string[] }
  | { kind: 'reload' | 'tune' | 'idle' }
);

export interface Round {
  seed: number;
  /** The plan of the workers that load first. */
  loadPlan: string;
  cache: boolean;
  /** Most rounds run on the CPU: a software GPU compiles for many seconds after each fault. */
  backend: 'cpu' | 'webgpu';
  tasks: Task[];
}

/** Kinds of faults to choose from. */
export type Menu = 'all' | 'losses';

class Dice {
  private readonly next: () => number;

  constructor(seed: number) {
    this.next = randomSource(seed);
  }

  int(n: number): number {
    return Math.floor(this.next() * n);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)] as T;
  }
}

/** Answers of one prompt are many: the seed and the temperature choose. */
const PROMPTS = ['endless, please', 'hello there', 'some letters', 'think about it'];
/** Flattens the chain model's logits, so that each draw counts. */
const HOT = 24;

const LOSSES = ['gpu-destroy'];
const DEATHS = ['worker-hang', 'worker-close', 'worker-throw', 'worker-terminate'];
const GPU_FAULTS = ['gpu-destroy', 'gpu-destroy', 'gpu-map-rejected'];
const AT_LOAD = [
  'storage-absent',
  'storage-throws',
  'storage-full',
  'storage-hangs',
  'opfs-throws',
  'opfs-full',
  'opfs-hangs@call:3',
  'idb-throws@call:2',
  'idb-full',
  'idb-hangs',
  'locks-absent',
  'locks-throws',
  'locks-hangs',
  'lock-held',
  'network-down@call:3',
  'network-cut@call:3',
  'network-wrong-bytes@call:4',
  'network-slow@kb:500',
  'worker-slow',
];
/** Submits and buffers of a load of the chain model, and some more. */
const SUBMITS = 120;
const BUFFERS = 60;

/** A fault of a load, as the plan of its workers. */
function loadPlan(dice: Dice, menu: Menu, onGpu: boolean): string {
  if (menu === 'losses') return `gpu-destroy@submit:${1 + dice.int(SUBMITS)}`;
  if (dice.chance(0.2)) return `${dice.pick(DEATHS)}@ms:${dice.int(200)}`;
  if (onGpu && dice.chance(0.3)) return `gpu-destroy@submit:${1 + dice.int(SUBMITS)}`;
  if (onGpu && dice.chance(0.3)) return `gpu-oom@call:${1 + dice.int(BUFFERS)}`;
  if (onGpu && dice.chance(0.2)) return 'gpu-refused@for:2';
  return dice.pick(AT_LOAD);
}

function strike(dice: Dice, faults: readonly string[], points: readonly Point[], tokens: number): Strike {
  const at = dice.pick(points);
  const fault = dice.pick(faults);
  return { fault, at, after: at === 'decode' ? dice.int(tokens) : dice.int(40) };
}

function chat(dice: Dice, kind: 'chat' | 'abort'): Task & { kind: 'chat' | 'abort' } {
  const maxTokens = 20 + dice.int(60);
  return {
    kind,
    prompt: dice.pick(PROMPTS),
    temperature: dice.pick([0, HOT]),
    seed: dice.int(1000),
    maxTokens,
    abortAfter: dice.int(maxTokens),
    strike: null,
  };
}

/** @param faults how many faults at most; the engine gives a GPU up after three */
export function planRound(seed: number, menu: Menu, faults = 3): Round {
  const dice = new Dice(seed);
  const isHurtAtLoad = dice.chance(menu === 'losses' ? 0.25 : 0.4);
  const onGpu = menu === 'losses' || dice.chance(0.15);
  const strikes = menu === 'losses' ? LOSSES : onGpu ? [...DEATHS, ...GPU_FAULTS] : DEATHS;
  const round: Round = {
    seed,
    loadPlan: isHurtAtLoad ? loadPlan(dice, menu, onGpu) : '',
    cache: dice.chance(0.5),
    backend: onGpu ? 'webgpu' : 'cpu',
    tasks: [],
  };
  let left = faults - Number(isHurtAtLoad);
  const count = 4 + dice.int(3);
  for (let i = 0; i < count; i++) {
    const task = anyTask(dice);
    if (left > 0 && dice.chance(0.6)) {
      const hurt = hurtTask(dice, strikes, task);
      if (hurt.strike) left--;
      round.tasks.push(hurt);
    } else round.tasks.push(task);
  }
  return round;
}

function anyTask(dice: Dice): Task {
  if (dice.chance(0.55)) return chat(dice, 'chat');
  if (dice.chance(0.3)) return chat(dice, 'abort');
  const texts = Array.from({ length: 1 + dice.int(3) }, () => dice.pick(PROMPTS));
  const kind = dice.pick(['embed', 'tokenize', 'reload', 'idle', 'idle', 'tune'] as const);
  return kind === 'embed' || kind === 'tokenize' ? { kind, texts, strike: null } : { kind, strike: null };
}

function hurtTask(dice: Dice, faults: readonly string[], task: Task): Task {
  if (task.kind === 'chat' || task.kind === 'abort') {
    return { ...task, strike: strike(dice, faults, ['prefill', 'decode', 'decode'], task.maxTokens) };
  }
  if (task.kind === 'tokenize' || task.kind === 'reload') return task;
  const at: Point = task.kind === 'embed' ? 'prefill' : task.kind;
  return { ...task, strike: strike(dice, faults, [at], 0) };
}
