// Faults of the worker's own thread, and what it says about its work.

import { around } from './patch';
import type { Schedule } from './schedule';

const SLOW_EVERY_MS = 5000;
const SLOW_MS = 1000;

export function hang(): never {
  for (;;);
}

export function throwLater(): void {
  setTimeout(() => {
    throw new Error('Injected: the worker throws');
  });
}

/** Blocks the thread for a part of the time, `seconds` long. */
export function beSlow(seconds: number | null): void {
  const until = seconds === null ? Number.POSITIVE_INFINITY : performance.now() + seconds * 1000;
  const timer = setInterval(() => {
    if (performance.now() > until) return clearInterval(timer);
    const end = performance.now() + SLOW_MS;
    while (performance.now() < end);
  }, SLOW_EVERY_MS);
}

/** Tells the schedule of loads that begin and of tokens that leave. */
export function watchWork(schedule: Schedule): void {
  addEventListener('message', ({ data }: MessageEvent<{ type?: string; path?: string[] } | null>) => {
    if (data?.type === 'APPLY' && data.path?.[0] === 'load') schedule.loadBegan();
  });
  around('MessagePort', ['postMessage'], (usual, _, [messages]) => {
    const posted = usual();
    if (Array.isArray(messages)) {
      for (const { type } of messages as { type?: string }[]) {
        if (type === 'start') schedule.spoke(0);
        if (type === 'token') schedule.spoke(1);
      }
    }
    return posted;
  });
}
