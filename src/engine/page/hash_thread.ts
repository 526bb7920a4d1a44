// A second worker that hashes large files, while the first brings them to the GPU.

import { transfer } from 'comlink';
import type { StartHasher } from '../protocol';
import { Connection } from './connection';

/** The death of the second worker. The wait of the first for a hash would never end. */
export class HashThreadLost extends Error {}

/** Starts with the first file that asks for it, and serves all files of a load. */
export class HashThread {
  private connection: Promise<Connection> | null = null;
  private lose: (error: unknown) => void = () => {};
  /** Rejects when the worker dies. */
  readonly lost = new Promise<never>((_, reject) => {
    this.lose = reject;
  });

  constructor(
    private readonly workerUrl?: string,
    private readonly signal?: AbortSignal,
  ) {
    this.lost.catch(() => {}); // the load races with it later
  }

  readonly start: StartHasher = async (port) => {
    try {
      this.connection ??= Connection.open(this.workerUrl, this.signal);
      const connection = await this.connection;
      await connection.alive(connection.worker.hash(transfer(port, [port])));
      connection.onEnd(() => this.lose(new HashThreadLost()));
      return true;
    } catch {
      return false; // the first worker then hashes itself
    }
  };

  close(): void {
    this.connection?.then(
      (connection) => connection.close(),
      () => {},
    );
  }
}
