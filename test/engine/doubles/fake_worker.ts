// A worker in this thread. Its messages travel through a channel, the test gives its code, and it may hang or end
// without notice, like the workers of browsers.

import { vi } from 'vitest';

/** The code of a worker, for its end of the channel. */
export type WorkerCode = (scope: MessagePort) => void | Promise<void>;

export class FakeWorker extends EventTarget {
  isTerminated = false;
  /** Messages to the page. */
  said = 0;
  private readonly channel = new MessageChannel();
  private isDeaf = false;

  constructor(code: WorkerCode) {
    super();
    this.channel.port1.onmessage = ({ data }) => {
      this.said++;
      if (!this.isDeaf) this.dispatchEvent(new MessageEvent('message', { data }));
    };
    void this.run(code);
  }

  /** Messages that are posted before the code runs wait for it. */
  private async run(code: WorkerCode): Promise<void> {
    await code(this.channel.port2);
    this.channel.port2.start();
  }

  postMessage(message: unknown, transfer: Transferable[] = []): void {
    this.channel.port1.postMessage(this.isDeaf ? null : message, transfer);
  }

  /** Neither receives nor sends from now on, like a worker in an endless loop or a dead one. */
  hang(): void {
    this.isDeaf = true;
  }

  /** Ends a hang. What was sent to the worker meanwhile is lost. */
  wake(): void {
    this.isDeaf = false;
  }

  terminate(): void {
    this.isTerminated = true;
    this.isDeaf = true;
    this.channel.port1.close();
  }
}

/** Makes `new Worker` run `code`. Returns the list of the workers made. */
export function stubWorkers(code: WorkerCode): FakeWorker[] {
  const made: FakeWorker[] = [];
  vi.stubGlobal(
    'Worker',
    class extends FakeWorker {
      constructor() {
        super(code);
        made.push(this);
      }
    },
  );
  return made;
}

/** The engine's own worker with the test's `loadModel` (vi.mock). Each has a module of its own. */
export async function engineWorker(scope: MessagePort): Promise<void> {
  vi.stubGlobal('addEventListener', scope.addEventListener.bind(scope));
  vi.stubGlobal('postMessage', scope.postMessage.bind(scope));
  vi.resetModules();
  await import('../../../src/engine/worker/worker');
}
