// What a page and its worker hold after a garbage collection, by the debugging protocol.

import type { CDPSession, Page } from 'playwright-core';

export interface Counts {
  pageHeap: number;
  workerHeap: number;
  listeners: number;
  nodes: number;
  ports: number;
  workers: number;
}

export type CountName = keyof Counts;

/** Counts of objects: unlike a heap's bytes, they return to exactly what they were. */
const OBJECTS = ['listeners', 'nodes', 'ports', 'workers'] as const satisfies readonly CountName[];

/** A session with the page, and with each of its workers. */
export class Counter {
  private readonly workers = new Set<string>();
  private readonly answers = new Map<number, (result: { usedSize?: number }) => void>();
  private id = 0;

  private constructor(private readonly session: CDPSession) {}

  static async open(page: Page): Promise<Counter> {
    const session = await page.context().newCDPSession(page);
    const counter = new Counter(session);
    session.on('Target.attachedToTarget', ({ sessionId }) => counter.workers.add(sessionId));
    session.on('Target.detachedFromTarget', ({ sessionId }) => counter.workers.delete(sessionId));
    session.on('Target.receivedMessageFromTarget', ({ message }) => {
      const { id, result } = JSON.parse(message);
      counter.answers.get(id)?.(result ?? {});
    });
    await session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
    await session.send('HeapProfiler.enable');
    return counter;
  }

  private ask(sessionId: string, method: string): Promise<{ usedSize?: number }> {
    const message = JSON.stringify({ id: ++this.id, method });
    const answered = new Promise<{ usedSize?: number }>((resolve) => this.answers.set(this.id, resolve));
    void this.session.send('Target.sendMessageToTarget', { sessionId, message });
    return answered;
  }

  /** The number of live objects with the prototype that an expression names. */
  private async instances(prototype: string): Promise<number> {
    const { session } = this;
    const { result } = await session.send('Runtime.evaluate', { expression: prototype, objectGroup: 'count' });
    const { objects } = await session.send('Runtime.queryObjects', {
      prototypeObjectId: result.objectId!,
      objectGroup: 'count',
    });
    const { result: length } = await session.send('Runtime.callFunctionOn', {
      objectId: objects.objectId!,
      functionDeclaration: 'function () { return this.length; }',
      returnByValue: true,
    });
    await session.send('Runtime.releaseObjectGroup', { objectGroup: 'count' });
    return length.value;
  }

  /**
   * Counts once the work before is over: a listener or port that is about to go is waited for (5 s at most), a leaked
   * one stays for all that time. `before`: what was held before that work.
   */
  async settled(before: Counts | undefined): Promise<Counts> {
    const deadline = Date.now() + 5000;
    for (;;) {
      const counts = await this.count();
      const grew = before && OBJECTS.some((name) => counts[name] > before[name]);
      if (!grew || Date.now() > deadline) return counts;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async count(): Promise<Counts> {
    const { session } = this;
    for (let i = 0; i < 2; i++) await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    const { jsEventListeners, nodes } = await session.send('Memory.getDOMCounters');
    let workerHeap = 0;
    for (const worker of this.workers) {
      await this.ask(worker, 'HeapProfiler.collectGarbage');
      workerHeap += (await this.ask(worker, 'Runtime.getHeapUsage')).usedSize ?? 0;
    }
    return {
      pageHeap: usedSize,
      workerHeap,
      listeners: jsEventListeners,
      nodes,
      ports: await this.instances('MessagePort.prototype'),
      workers: await this.instances('Worker.prototype'),
    };
  }
}

/** Least squares: the growth from one sample to the next. */
export function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let [product, square] = [0, 0];
  for (const [i, value] of values.entries()) {
    product += (i - middle) * (value - mean);
    square += (i - middle) ** 2;
  }
  return square === 0 ? 0 : product / square;
}
