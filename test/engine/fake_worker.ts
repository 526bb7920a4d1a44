// A worker in this thread: its messages travel through a channel, its code is what the test gives it, and it may hang or end
// as the workers of browsers do, without a word.

import { vi } from 'vitest';

/** Code of a worker: what it does with its end of the channel. */
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

  /** What is posted before the code runs waits for it. */
  private async run(code: WorkerCode): Promise<void> {
    await code(this.channel.port2);
    this.channel.port2.start();
  }

  postMessage(message: unknown, transfer: Transferable[] = []): void {
    this.channel.port1.postMessage(this.isDeaf ? null : message, transfer);
  }

  /** From now on it hears nothing and says nothing: it runs in circles, or it is gone. */
  hang(): void {
    this.isDeaf = true;
  }

  terminate(): void {
    this.isTerminated = true;
    this.isDeaf = true;
    this.channel.port1.close();
  }
}

/** From now on `new Worker` runs `code`; what was made is in the list that comes back. */
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

/** The engine's own worker, of which `loadModel` is the test's (vi.mock of session). Each has a module of its own. */
export async function engineWorker(scope: MessagePort): Promise<void> {
  vi.stubGlobal('addEventListener', scope.addEventListener.bind(scope));
  vi.stubGlobal('postMessage', scope.postMessage.bind(scope));
  vi.resetModules();
  await import('../../src/engine/worker/worker');
}
