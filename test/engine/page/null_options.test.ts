// Options that are null, as plain JavaScript may pass them: none are given.

import { expect, test } from 'vitest';
import { Engine } from '../../../src/engine/engine';
import type { EngineHost, HostConnection, WorkerRequest } from '../../../src/engine/page/host/host';

const REQUESTS = 5;

/** An engine whose host notes each request and never answers. `all`: resolves with the last one. */
function listening() {
  const sent: WorkerRequest[] = [];
  let onAll = () => {};
  const all = new Promise<void>((resolve) => {
    onAll = resolve;
  });
  const connection = {
    onEnd: () => () => {},
    send(asked: WorkerRequest) {
      if (sent.push(asked) === REQUESTS) onAll();
      return { close() {} };
    },
  } as unknown as HostConnection;
  const host = {
    info: {},
    running: new Set(),
    whenReady({ begin }: { begin(connection: HostConnection): void }) {
      begin(connection);
      return () => {};
    },
    tokenize: async (input: object) => ({ ids: [Object.keys(input).length] }),
  } as unknown as EngineHost;
  return { engine: new Engine(host), sent, all };
}

test('every entry takes null for no options', async () => {
  const requests = async (options: null | undefined) => {
    const { engine, sent, all } = listening();
    void engine.chat([{ role: 'user', content: 'a' }], options).next();
    void engine.complete('a', options).next();
    void engine.embed(['a'], options);
    void engine.tune(options);
    void engine.roofline(options);
    const withoutSeed = (key: string, value: unknown) => (key === 'seed' ? 0 : value);
    await all;
    return JSON.stringify(sent, withoutSeed);
  };
  const none = await requests(undefined);
  expect(await requests(null)).toBe(none);
  expect(
    JSON.parse(none)
      .map(({ kind }: WorkerRequest) => kind)
      .sort(),
  ).toEqual(['embed', 'generate', 'generate', 'roofline', 'tune']);
  const { engine } = listening();
  expect(await engine.tokenize('a', null)).toEqual(await engine.tokenize('a'));
  expect(await engine.countTokens('a', null)).toBe(1);
});
