// Simulated networks: what the metrics call network and server is what was injected. Time is a clock that stands still
// until the simulation moves it, so that a busy machine changes nothing.

import { expect, test } from 'vitest';
import { RemoteEngine } from '../../../src/remote/remote_engine';
import { randomSource } from '../../random';
import { collect, HELLO } from '../collect';
import { FakeClock } from '../fake_clock';
import { CARDS } from '../http_server';

interface Network {
  /** One way. */
  delayMs: number;
  /** The most that a packet is late. What was sent later does not come earlier. */
  jitterMs: number;
  /** The share of packets that are lost and sent again, after a wait. */
  loss: number;
}

const PROMPT_MS = 120;
const TOKEN_MS = 20;
const TOKENS = 200;

/** A server that reads for PROMPT_MS and writes a token every TOKEN_MS, behind a network. */
function simulate({ delayMs, jitterMs, loss }: Network, seed: number) {
  const clock = new FakeClock();
  const next = randomSource(seed);
  let lastMs = 0;
  const arrivalOf = (sentMs: number) => {
    const again = next() < loss ? 2 * delayMs + 200 : 0;
    lastMs = Math.max(lastMs, sentMs + delayMs + next() * jitterMs + again);
    return lastMs;
  };
  const injected = { ttftMs: 0 };
  const until = (ms: number) => clock.advance(Math.max(0, ms - clock.now()));
  const fetch = async (address: string): Promise<Response> => {
    const sentMs = clock.now();
    const receivedMs = arrivalOf(sentMs);
    until(arrivalOf(receivedMs));
    if (address.endsWith('/models')) return Response.json({ data: [CARDS['llama.cpp']] });
    let token = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const writtenMs = PROMPT_MS + token * TOKEN_MS;
          until(arrivalOf(receivedMs + writtenMs));
          if (token === 0) injected.ttftMs = clock.now() - sentMs - PROMPT_MS;
          const timings = {
            prompt_n: 10,
            prompt_ms: PROMPT_MS,
            predicted_n: ++token,
            predicted_ms: writtenMs - PROMPT_MS,
          };
          const choice = { index: 0, delta: { content: 'a' }, finish_reason: token === TOKENS ? 'stop' : null };
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify({ choices: [choice], timings })}\n\n`));
          if (token === TOKENS) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  return { clock, fetch, injected };
}

test.each([10, 50, 150, 300])(
  'a steady network of %d ms: the first token pays for it, and no gap does',
  async (delayMs) => {
    const { clock, fetch } = simulate({ delayMs, jitterMs: 0, loss: 0 }, 1);
    const engine = await RemoteEngine.load('http://far', { clock, fetch });
    const { metrics } = await collect(engine.chat(HELLO));
    expect(metrics?.ttftMs).toBeCloseTo(2 * delayMs + PROMPT_MS, 6);
    expect(metrics?.network?.server).toEqual({ promptMs: PROMPT_MS, tokenMs: TOKEN_MS });
    expect(metrics?.network?.beyondServer?.ttftMs).toBeCloseTo(2 * delayMs, 6);
    expect(metrics?.network?.beyondServer?.tokenMs).toBeCloseTo(0, 6);
    expect(metrics?.tbtMs).toMatchObject({ p50: expect.closeTo(TOKEN_MS, 6), p99: expect.closeTo(TOKEN_MS, 6) });
  },
);

test.each([
  { delayMs: 50, jitterMs: 10, loss: 0 },
  { delayMs: 100, jitterMs: 40, loss: 0 },
  { delayMs: 40, jitterMs: 10, loss: 0.02 },
])('jitter and loss (%o) are in the gaps, and the means keep to what was injected', async (network) => {
  const { clock, fetch, injected } = simulate(network, 22);
  const engine = await RemoteEngine.load('http://far', { clock, fetch });
  const { metrics, tokens } = await collect(engine.chat(HELLO));
  const { server, beyondServer } = metrics?.network ?? {};
  const lastMs = (tokens.at(-1)?.atMs ?? 0) - (tokens[0]?.atMs ?? 0);
  const whole = (beyondServer?.tokenMs ?? 0) + (server?.tokenMs ?? 0);
  expect(whole * (TOKENS - 1)).toBeGreaterThan(0.95 * lastMs);
  expect(whole * (TOKENS - 1)).toBeLessThan(1.05 * lastMs);
  expect(beyondServer?.ttftMs).toBeGreaterThan(0.95 * injected.ttftMs);
  expect(beyondServer?.ttftMs).toBeLessThan(1.05 * injected.ttftMs);
  expect(metrics?.tbtMs.p99).toBeGreaterThan(TOKEN_MS + network.jitterMs / 4);
  expect(metrics?.tbtMs.p50).toBeGreaterThan(0.5 * TOKEN_MS);
});
