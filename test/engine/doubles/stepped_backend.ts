// A scripted backend that waits for its test, and readers of the events that it leads to.

import type { EngineEvent, EngineInfo } from '../../../src/engine/protocol';
import { ScriptBackend } from './script_backend';

/** Makes steps wait for `go`, like those of a slow GPU. */
export class SteppedBackend extends ScriptBackend {
  override readonly maxRunAhead: number = 1;
  readonly failing: Promise<Error>;
  lose: (error: Error) => void = () => {};
  private waiting: (() => void)[] = [];
  private allowed = 0;

  constructor() {
    super(1000, (position) => position % 100);
    this.failing = new Promise((resolve) => {
      this.lose = resolve;
    });
  }

  go(steps: number): void {
    this.allowed += steps;
    while (this.allowed > 0 && this.waiting.length > 0) {
      this.allowed--;
      this.waiting.shift()?.();
    }
  }

  override async decode(position: number): Promise<number> {
    if (this.allowed > 0) this.allowed--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    return super.decode(position);
  }
}

export const INFO = {
  attention: { prefill: 'eager', decode: 'eager', reason: 'a test' },
  step: { name: 'plain', reason: 'a test', gain: null, giveUps: 0 },
  warnings: [],
} as unknown as EngineInfo;

/** The events of a request that were read. */
export function read(events: AsyncGenerator<EngineEvent, void, undefined>) {
  const heard: EngineEvent[] = [];
  const whole = (async () => {
    for await (const event of events) heard.push(event);
    return heard;
  })();
  whole.catch(() => {});
  const tokens = () => heard.filter(({ type }) => type === 'token').length;
  return { heard, whole, tokens };
}

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

export const done = (events: readonly EngineEvent[]) => {
  const last = events.at(-1);
  if (last?.type !== 'done') throw new Error(`the last event is ${last?.type}`);
  return last;
};
