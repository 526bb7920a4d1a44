// What this tab's engine asks of the model: requests under way, each with a connection of its own, and those that wait
// for a model.

import type { VivaceError } from '../engine/engine';
import type { Waiting } from '../engine/page/host/host';
import { TabConnection } from './tab_connection';

export class Askers {
  private readonly connections = new Set<TabConnection>();
  private readonly waiting = new Set<Waiting>();

  get isWaiting(): boolean {
    return this.waiting.size > 0;
  }

  connect(send: (connection: TabConnection) => TabConnection['send']): TabConnection {
    const connection: TabConnection = new TabConnection(
      (request, receiver) => send(connection)(request, receiver),
      () => this.forget(connection),
    );
    this.connections.add(connection);
    return connection;
  }

  forget(connection: TabConnection): void {
    this.connections.delete(connection);
  }

  wait(waiting: Waiting): void {
    this.waiting.add(waiting);
  }

  waitNoMore(waiting: Waiting): void {
    this.waiting.delete(waiting);
  }

  /** @param connect returns null while no model answers */
  begin(connect: () => TabConnection | null): void {
    for (const waiting of [...this.waiting]) {
      const connection = connect();
      if (!connection) return;
      this.waiting.delete(waiting);
      waiting.begin(connection);
    }
  }

  /** Parts all requests from their model. Returns a function that tells them. */
  lose(): (cause: VivaceError) => void {
    const lost = [...this.connections];
    this.connections.clear();
    return (cause) => {
      for (const connection of lost) connection.lose(cause);
    };
  }

  /** Nothing is answered any more. */
  end(reason: Error): void {
    for (const connection of [...this.connections]) connection.end(reason);
    for (const { fail } of [...this.waiting]) fail(reason);
    this.connections.clear();
    this.waiting.clear();
  }
}
