// A server that is busy, fails, stalls, cuts, lies, or sends us elsewhere; and the key that nobody may see.

import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { RemoteEngine } from '../../../src/remote/remote_engine';
import { collect, HELLO } from '../collect';
import { FakeClock } from '../fake_clock';
import { begin, CARDS, chunkOf, connect, play, sendJson, serve, stream } from '../http_server';

const KEY = 'sk-secret-0123456789';
const TEXT = chunkOf({ content: 'Half' });

function gate() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** What the next answer of an engine throws. */
async function failureOf(engine: RemoteEngine, options = {}) {
  try {
    await collect(engine.chat(HELLO, options));
  } catch (error) {
    return error as Error & { code: string };
  }
  throw new Error('It did not fail.');
}

test.each([
  [401, { error: { message: `Incorrect API key provided: ${KEY}.` } }, 'server-key', false, 'refuses the key'],
  [403, { detail: 'Forbidden' }, 'server-key', false, 'Forbidden'],
  [404, { object: 'error', message: 'The model `x` does not exist.' }, 'server-failed', false, 'ends with /v1'],
  [400, { error: { message: 'temperature must be >= 0' } }, 'invalid-request', false, 'temperature must be'],
  [422, { detail: 'max_tokens is too large' }, 'invalid-request', false, 'too large'],
  [400, { error: { message: 'x', code: 'context_length_exceeded' } }, 'context-overflow', false, 'Shorten the prompt'],
  [400, { error: { message: 'x', type: 'exceed_context_size_error' } }, 'context-overflow', false, 'Shorten'],
  [
    400,
    { object: 'error', message: "This model's maximum context length is 4096 tokens." },
    'context-overflow',
    false,
    '',
  ],
  [500, { error: { message: 'CUDA out of memory' } }, 'server-failed', true, 'CUDA out of memory'],
  [502, null, 'server-failed', true, 'status 502'],
])('status %d with %j is %s', async (status, body, code, canRetry, words) => {
  const { engine, heard } = await connect((response) => sendJson(response, body, status), { apiKey: KEY });
  const error = await failureOf(engine);
  expect(error).toMatchObject({ code, canRetry, message: expect.stringContaining(words) });
  expect(`${error.message} ${error.stack}`).not.toContain(KEY);
  expect(heard).toHaveLength(2); // the list of models, and one try
});

test('a key at the place where a long sentence is cut is left out whole', async () => {
  const said = (letters: number) => ({ error: { message: `${'x '.repeat(letters / 2)}${KEY} was given.` } });
  for (let letters = 270; letters <= 300; letters += 2) {
    const { engine } = await connect((response) => sendJson(response, said(letters), 400), { apiKey: KEY });
    const { message } = await failureOf(engine);
    expect(message).toMatch(/x (\[key\] .*)?…$/);
    expect(message).not.toContain(KEY.slice(0, 6));
  }
});

test('a key is sent as a header alone, and is in nothing that can be printed or copied', async () => {
  const headers = { 'x-team': 'blue-team-secret' };
  const { engine, heard } = await connect(play(stream('vllm_chat')), { apiKey: KEY, headers });
  await collect(engine.chat(HELLO));
  for (const { headers } of heard)
    expect(headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-team': 'blue-team-secret' });
  expect(JSON.stringify(heard.map(({ path, body }) => [path, body]))).not.toContain(KEY);
  const printed = [
    JSON.stringify(engine),
    inspect(engine, { depth: 9, showHidden: true }),
    JSON.stringify(engine.info),
  ];
  for (const text of printed) expect(text).not.toMatch(/secret/);
});

test('a key that is refused or missing at the list of models has a clear sentence', async () => {
  const { server, address } = await serve(() => {});
  server.removeAllListeners('request');
  server.on('request', (_, response) => sendJson(response, { error: `no ${KEY}` }, 401));
  await expect(RemoteEngine.load(address)).rejects.toMatchObject({
    code: 'server-key',
    message: expect.stringContaining('wants a key (status 401). Pass it as apiKey.'),
  });
  const refused = RemoteEngine.load(address, { apiKey: KEY });
  await expect(refused).rejects.toMatchObject({ message: expect.stringMatching(/refuses the key.*no \[key\]/) });
});

test.each([
  ['key=abc', 'http://localhost/v1?key=abc'],
  ['a user', 'http://me:abc@localhost/v1'],
  ['a fragment', 'http://localhost/v1#abc'],
  ['another protocol', 'file:///abc'],
  ['no address', 'http://'],
])('an address with %s is refused, and not repeated', async (_, address) => {
  const error = await RemoteEngine.load(address).catch((error: Error) => error);
  const message = expect.not.stringContaining('abc');
  expect(error).toMatchObject({ code: 'invalid-request', option: 'address', message });
});

test('a key that no header can hold is refused, and not repeated', async () => {
  const wrong = `${KEY}\nx`;
  for (const [option, value] of Object.entries({ apiKey: wrong, headers: { 'x-team': wrong } })) {
    const asked = RemoteEngine.load('http://localhost:1', { [option]: value });
    const message = expect.not.stringContaining(KEY);
    await expect(asked).rejects.toMatchObject({ code: 'invalid-request', option, message });
  }
});

test('a busy server is asked again, when it says and no sooner, and only before it began', async () => {
  const clock = new FakeClock();
  const answers = [
    [429, { 'retry-after': '7' }],
    [503, {}],
  ] as const;
  const { engine, heard } = await connect(
    (response, asked) => {
      const next = answers[heard.length - 2];
      if (next) sendJson(response, { error: { message: 'Loading model' } }, next[0], next[1]);
      else play(stream('vllm_chat'))(response, asked);
    },
    { clock },
  );
  const answer = collect(engine.chat(HELLO));
  await clock.waitsFor(7000);
  expect(heard).toHaveLength(2);
  clock.advance(7000);
  await clock.waitsFor(1000);
  expect(heard).toHaveLength(3);
  clock.advance(1000);
  const { text, metrics } = await answer;
  expect([text, metrics?.network?.tries, heard.length]).toEqual(['Grüße aus 日本 🌍', 3, 4]);
  expect(metrics?.ttftMs).toBe(8000); // the reader waited for all of it
  expect(metrics?.network?.acceptedMs).toBe(0);
});

test('a wait with a fraction of a second is a wait, and no date', async () => {
  const clock = new FakeClock();
  const { engine } = await connect((response) => sendJson(response, {}, 429, { 'retry-after': '1.5' }), { clock });
  const failure = failureOf(engine);
  for (let tries = 0; tries < 2; tries++) {
    await clock.waitsFor(1500);
    clock.advance(1500);
  }
  expect(await failure).toMatchObject({ code: 'server-busy' });
});

test.each([
  ['tries are over', 429, {}, 0],
  ['the wait is too long', 429, { 'retry-after': '3600' }, 2],
  ['the date is too far', 503, { 'retry-after': 'Fri, 01 Jan 2100 00:00:00 GMT' }, 2],
  ['the server forbids it', 503, { 'x-should-retry': 'false' }, 2],
  ['it failed', 500, { 'retry-after': '1' }, 2],
])('where %s, there is no next try', async (_, status, headers, retries) => {
  const { engine, heard } = await connect((response) => sendJson(response, {}, status, headers), { retries });
  const code = status === 500 ? 'server-failed' : 'server-busy';
  expect(await failureOf(engine)).toMatchObject({ code, status });
  expect(heard).toHaveLength(2);
});

test('an abort ends the wait for a busy server, and the answer has its end', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const { engine, heard } = await connect((response) => sendJson(response, {}, 429, { 'retry-after': '9' }), { clock });
  const answer = collect(engine.chat(HELLO, { signal: stop.signal }));
  await clock.waitsFor(9000);
  stop.abort();
  expect((await answer).all).toMatchObject([{ type: 'start' }, { type: 'done', finishReason: 'abort' }]);
  expect([heard.length, clock.waiting]).toEqual([2, 0]);
});

test('a server that does not begin, and one that stops in the middle, are silent', async () => {
  const clock = new FakeClock();
  const { engine } = await connect(() => {}, { clock, acceptMs: 5000 });
  const never = failureOf(engine);
  await clock.waitsFor(5000);
  clock.advance(5000);
  expect(await never).toMatchObject({
    code: 'server-silent',
    seconds: 5,
    message: expect.stringContaining('5 seconds'),
  });

  const half = await connect(
    (response) => {
      begin(response);
      response.write(TEXT);
    },
    { clock, silenceMs: 2000 },
  );
  const answer = half.engine.chat(HELLO);
  expect((await answer.next()).value).toMatchObject({ type: 'start' });
  expect((await answer.next()).value).toMatchObject({ type: 'token', text: 'Half' });
  const next = answer.next();
  await clock.waitsFor(2000);
  clock.advance(2000);
  await expect(next).rejects.toMatchObject({ name: 'RemoteError', code: 'server-silent', canRetry: true });
  expect(half.engine.metrics).toBeNull();
});

test('an answer that is cut, by a broken connection or an early end, is no answer', async () => {
  const broken = await connect((response) => {
    begin(response);
    response.write(TEXT, () => response.destroy());
  });
  expect(await failureOf(broken.engine)).toMatchObject({ code: 'server-cut' });
  const ended = await connect((response) => {
    begin(response);
    response.end(`${TEXT}data: {"choices":[{"de`);
  });
  expect(await failureOf(ended.engine)).toMatchObject({
    code: 'server-cut',
    message: expect.stringContaining('ended'),
  });
});

test('an answer without [DONE] is whole if it has its reason, and one without a reason if it has [DONE]', async () => {
  for (const end of [chunkOf({}, 'length'), 'data: [DONE]\n\n']) {
    const { engine } = await connect((response) => {
      begin(response);
      response.end(TEXT + end);
    });
    const { text, finishReason } = await collect(engine.chat(HELLO));
    expect([text, finishReason]).toEqual(['Half', end.includes('length') ? 'length' : 'eos']);
  }
});

test.each([
  ['data', `data: {"error":{"message":"CUDA error with ${KEY}","code":500}}\n\n`, 'server-failed'],
  ['a named event', `event: error\ndata: {"message":"CUDA error"}\n\n`, 'server-failed'],
  ['a field', `error: {"message":"CUDA error"}\n\n`, 'server-failed'],
  ['the context', 'data: {"error":{"message":"CUDA error: context length exceeded"}}\n\n', 'context-overflow'],
])('an error in the middle, as %s', async (_, event, code) => {
  const respond = play(Buffer.from(TEXT + event));
  const { engine } = await connect(respond, { apiKey: KEY });
  const error = await failureOf(engine);
  expect(error).toMatchObject({ code, message: expect.stringContaining('CUDA error') });
  expect(`${error.message} ${error.stack}`).not.toContain(KEY);
});

test.each([
  ['text/html', '<!doctype html><title>Sign in</title>', 'a web page'],
  ['application/json', '{"choices":[]}', 'application/json'],
  ['text/event-stream', 'data: <html>\n\n', 'no JSON object'],
  ['text/event-stream', `data: {"a":${'['.repeat(70)}\n\n`, '64 levels'],
  ['text/event-stream', `data: ${'x'.repeat(1_100_000)}\n\n`, '1048576 letters'],
])('an answer of the type %s with %.40s is none of this interface', async (type, body, words) => {
  const { engine } = await connect((response) => {
    response.writeHead(200, { 'content-type': type });
    response.end(body);
  });
  const error = await failureOf(engine);
  expect(error).toMatchObject({ code: 'server-answer', message: expect.stringContaining(words) });
});

test('a redirect is not followed: the key goes nowhere else', async () => {
  const elsewhere = await serve(() => {});
  const { engine } = await connect(
    (response) => {
      response.writeHead(307, { location: `${elsewhere.address}/chat/completions` });
      response.end();
    },
    { apiKey: KEY },
  );
  const error = await failureOf(engine);
  expect(error).toMatchObject({ code: 'server-unreachable', message: expect.stringContaining('does not redirect') });
  expect(elsewhere.heard).toEqual([]);
});

test('a server that is off', async () => {
  const { address, server } = await serve(() => {});
  await new Promise((resolve) => server.close(resolve));
  const error = await RemoteEngine.load(address, { apiKey: KEY }).catch((error) => error);
  expect(error).toMatchObject({
    code: 'server-unreachable',
    status: null,
    host: new URL(address).host,
    canRetry: true,
  });
  expect(error.message).toMatch(/^No answer from 127\.0\.0\.1:\d+ reached this page\. Check that it runs/);
});

test('a browser that refuses an answer for its origin is told what to do', async () => {
  const page = Object.getOwnPropertyDescriptor(globalThis, 'location');
  Object.defineProperty(globalThis, 'location', {
    configurable: true,
    value: { href: 'https://chat.example/', origin: 'https://chat.example', protocol: 'https:' },
  });
  try {
    const refuse = () => {
      throw new TypeError('Failed to fetch');
    };
    const error = await RemoteEngine.load('http://gpu.example:8000', { fetch: refuse }).catch((error) => error);
    expect(error.message).toContain('pages of https://chat.example (CORS; vLLM: --allowed-origins)');
    expect(error.message).toContain('A page from https: may not ask a server at http:');
  } finally {
    if (page) Object.defineProperty(globalThis, 'location', page);
    else Reflect.deleteProperty(globalThis, 'location');
  }
});

test('a list without models, and a name that is not in it', async () => {
  const { address } = await serve(() => {}, { object: 'model' });
  await expect(RemoteEngine.load(address)).rejects.toMatchObject({ message: expect.stringContaining('no models') });
  const qwen = await serve(() => {});
  const asked = RemoteEngine.load(qwen.address, { model: 'other' });
  await expect(asked).rejects.toMatchObject({
    code: 'server-model',
    message: expect.stringContaining('It has qwen'),
  });
});

test('a key in the clear is a warning, except to this machine', async () => {
  const models = async () => Response.json({ data: [CARDS.vllm] });
  const warningsOf = async (address: string, apiKey?: string) =>
    (await RemoteEngine.load(address, { fetch: models, apiKey })).info.warnings.map(({ code }) => code);
  expect(await warningsOf('http://gpu.example', KEY)).toEqual(['server-clear']);
  expect(await warningsOf('http://gpu.example')).toEqual([]);
  for (const host of ['https://gpu.example', 'http://127.0.0.1:8080', 'http://localhost', 'http://[::1]'])
    expect(await warningsOf(host, KEY)).toEqual([]);
});

test('an abort in the middle ends the answer and the connection', async () => {
  const stop = new AbortController();
  const closed = gate();
  const { engine } = await connect((response) => {
    begin(response);
    response.write(TEXT);
    response.on('close', closed.resolve);
  });
  const events = [];
  for await (const event of engine.chat(HELLO, { signal: stop.signal, seed: 5 })) {
    events.push(event);
    if (event.type === 'token') stop.abort();
  }
  expect(events.at(-1)).toMatchObject({ type: 'done', finishReason: 'abort', seed: 5, usage: { completionTokens: 1 } });
  await closed.promise;
});

test('who leaves early, also while nothing comes, ends the connection', async () => {
  const closed = gate();
  const { engine } = await connect((response) => {
    begin(response);
    response.write(TEXT);
    response.on('close', closed.resolve);
  });
  const answer = engine.chat(HELLO);
  await answer.next();
  await answer.next();
  const waiting = answer.next();
  await answer.return();
  await closed.promise;
  await waiting;
});

test('an engine that was unloaded stops its answers and gives no more', async () => {
  const { engine } = await connect((response) => {
    begin(response);
    response.write(TEXT);
  });
  const events = [];
  for await (const event of engine.chat(HELLO)) {
    events.push(event);
    if (event.type === 'token') await engine.unload();
  }
  expect(events.at(-1)).toMatchObject({ type: 'done', finishReason: 'abort' });
  expect(await failureOf(engine)).toMatchObject({ code: 'invalid-request' });
});
