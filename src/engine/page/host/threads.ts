// Workers that load no model and help the one that does: they hash large files, and read, hash and write pieces.

import { transfer } from 'comlink';
import type { StartThread } from '../../protocol';
import { Connection } from './connection';

/** The death of a helping worker. The wait of the loading one for it would never end. */
export class ThreadLost extends Error {}

/** The helping workers of one load. Each starts when it is asked for. */
export class Threads {
  private hashing: Promise<Connection> | null = null;
  /** Open threads with the functions that close them. A closed thread is not a dead one. */
  private readonly open = new Map<Connection, () => void>();
  private readonly loading = { isOver: false };
  /** False once the load is over, which then hears of no thread that has started. */
  private takesThreads = true;
  private lose: (error: unknown) => void = () => {};
  /** Rejects when one of them dies. */
  readonly lost = new Promise<never>((_, reject) => {
    this.lose = reject;
  });

  /** @param gone resolves when the worker that loads has ended; nothing of the load may be held until then */
  constructor(
    gone: Promise<void>,
    private readonly workerUrl?: string,
    private readonly signal?: AbortSignal,
  ) {
    this.lost.catch(() => {}); // the load races with it later
    const { open, loading } = this;
    void gone.then(() => {
      loading.isOver = true;
      for (const close of open.values()) close();
    });
  }

  /** One worker hashes all files of a load. Each port for pieces has a worker of its own, which ends with them. */
  readonly start: StartThread = async (port, task) => {
    try {
      if (task === 'hash') {
        this.hashing ??= this.connect();
        const connection = await this.hashing;
        await connection.alive(connection.worker.hash(transfer(port, [port])));
      } else {
        const connection = await this.connect();
        if (!this.takesThreads) {
          this.close(connection);
          return false;
        }
        const done = connection.alive(connection.worker.pieces(transfer(port, [port])));
        done.catch(() => {}).finally(() => this.close(connection));
      }
      return true;
    } catch {
      return false; // the first worker then does it itself
    }
  };

  private async connect(): Promise<Connection> {
    const connection = await Connection.open(this.workerUrl, this.signal);
    const ignore = connection.onEnd(() => this.lose(new ThreadLost()));
    this.open.set(connection, () => {
      ignore();
      connection.close();
    });
    if (this.loading.isOver) this.close(connection);
    return connection;
  }

  private close(connection: Connection): void {
    this.open.get(connection)?.();
    this.open.delete(connection);
  }

  /** The load is over. Pieces may still be written in the threads that it has. */
  endLoad(): void {
    this.takesThreads = false;
    this.hashing?.then(
      (connection) => this.close(connection),
      () => {},
    );
  }
}
