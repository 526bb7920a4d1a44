// A second worker, for the hashes of large files: the first is busy with bringing them to the GPU.

import { transfer } from 'comlink';
import type { StartHasher } from '../protocol';
import { Connection } from './connection';

/** Started when the first file asks for it; serves all files of a load. */
export class HashThread {
  private connection: Promise<Connection> | null = null;
  private lose: (error: unknown) => void = () => {};
  /** Rejects when the worker dies: what waits for a hash would wait for ever. */
  readonly lost = new Promise<never>((_, reject) => {
    this.lose = reject;
  });

  constructor(
    private readonly workerUrl?: string,
    private readonly signal?: AbortSignal,
  ) {
    this.lost.catch(() => {}); // for whoever awaits it
  }

  readonly start: StartHasher = async (port) => {
    try {
      this.connection ??= Connection.open(this.workerUrl, this.signal);
      const connection = await this.connection;
      await connection.alive(connection.worker.hash(transfer(port, [port])));
      connection.onEnd(this.lose);
      return true;
    } catch {
      return false; // the first worker hashes for itself
    }
  };

  close(): void {
    this.connection?.then(
      (connection) => connection.close(),
      () => {},
    );
  }
}
