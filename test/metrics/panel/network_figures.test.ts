// The panel over an answer of a server: its groups, its stalls, and its document.

import { expect, test } from 'vitest';
import { figureGroups } from '../../../src/metrics/panel/figures';
import { runToJson } from '../../../src/metrics/run/export';
import { runOf } from '../../../src/metrics/run/kept_run';
import { readRun } from '../../../src/metrics/run/run_parse';
import { RunRecord } from '../../../src/metrics/run/run_record';
import { RemoteEngine } from '../../../src/remote/remote_engine';
import { HELLO } from '../../remote/collect';
import { FakeClock } from '../../remote/fake_clock';
import { CARDS, stream } from '../../remote/http_server';

/** A run of a recorded stream whose events are so many milliseconds apart. */
async function runOfServer(name: string, card: object, waits: readonly number[]) {
  const clock = new FakeClock();
  const events = stream(name)
    .toString()
    .split(/(?<=\r?\n\r?\n)/);
  const left = [...waits];
  const body = () =>
    new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          clock.advance(left.shift() ?? 0);
          const event = events.shift();
          if (event) controller.enqueue(new TextEncoder().encode(event));
          else controller.close();
        },
      },
      { highWaterMark: 0 },
    );
  const fetch = async (address: string) =>
    address.endsWith('/models')
      ? Response.json({ data: [card] })
      : new Response(body(), { headers: { 'content-type': 'text/event-stream' } });
  const engine = await RemoteEngine.load('http://gpu.example', { fetch, clock });
  const run = new RunRecord({
    info: engine.info,
    isFirst: true,
    now: () => clock.epochMs + clock.now(),
    onPaint: () => {},
  });
  for await (const event of engine.chat(HELLO, { seed: 1 })) run.record(event);
  run.isEnded = true;
  return run;
}

const figuresOf = (run: RunRecord) =>
  Object.fromEntries(
    figureGroups(run, run.info).flatMap(({ figures }) => figures.map(({ key, value }) => [key, value])),
  );

test('network and server are told apart, and nothing that only a GPU here has', async () => {
  const run = await runOfServer('llamacpp_chat', CARDS['llama.cpp'], [60, 40, 50, 22, 46]);
  expect(run.label).toBe('llama.cpp, gpu.example');
  const groups = figureGroups(run, run.info);
  expect(groups.map(({ key }) => key)).toEqual(['timing', 'first', 'network', 'machine']);
  expect(groups[0]?.note).toContain('when the bytes');
  expect(figuresOf(run)).toMatchObject({
    ttft: '150 ms',
    'server-first': '80.0 ms',
    'network-first': '70.0 ms', // 150 - 80
    'server-gap': '20.0 ms',
    'network-gap': '2.67 ms', // (22 + 46) / 3 - 20
    'tokens-per-chunk': '1.3',
    adapter: 'gpu.example, llama.cpp',
    context: '2,048',
  });
});

test('a server without times of its own says so', async () => {
  const run = await runOfServer('vllm_chat', CARDS.vllm, [100, 20]);
  const group = figureGroups(run, run.info).find(({ key }) => key === 'network');
  expect(group?.note).toContain('tells no times');
  expect(figuresOf(run)).toMatchObject({ 'network-first': '–', 'server-gap': '–', 'tokens-per-chunk': '2' });
});

test('a stall is the network’s or the server’s', async () => {
  const run = await runOfServer('vllm_chat', CARDS.vllm, [10, 10, 1, 500]);
  expect(run.stalls.map(({ cause, sentence }) => [cause, sentence])).toEqual([
    ['network or server', '2 tokens came together: the network or the server was late.'],
  ]);
});

test('its document is read again', async () => {
  const run = await runOfServer('llamacpp_chat', CARDS['llama.cpp'], [60, 40, 50, 22, 46]);
  const text = runToJson(run, null, null);
  const again = runOf(readRun(text));
  expect(again.metrics?.network).toEqual(run.metrics?.network);
  expect(again.tokens.map(({ id }) => id)).toEqual([-1, -1, -1, -1]);
  expect(runToJson(again, null, null)).toBe(text);
  expect(() => readRun(text.replace('"tries":1', '"tries":-1'))).toThrow('network.tries');
});
