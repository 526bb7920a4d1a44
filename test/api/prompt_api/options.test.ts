// The options of a session: sampling modes and numbers, expected types and languages, tools.

import { expect, test } from 'vitest';
import { createLanguageModel, type LanguageModelCreateOptions } from '../../../src/api/prompt_api/language_model';
import { PARAMS, readOptions } from '../../../src/api/prompt_api/options';
import { GENERATE_OPTIONS } from '../../../src/engine/options';
import { errorOf, scriptedEngine } from './prompt_engine';

const LanguageModel = createLanguageModel(scriptedEngine().engine);
const create = (options: object) => LanguageModel.create(options as LanguageModelCreateOptions);

const MODES = [
  'most-predictable',
  'predictable',
  'slightly-predictable',
  'balanced',
  'slightly-creative',
  'creative',
  'most-creative',
] as const;

test('the defaults are those of the engine', async () => {
  const { temperature, topK, topP } = readOptions({});
  const { temperature: t, topK: k, topP: p } = GENERATE_OPTIONS;
  expect({ temperature, topK, topP }).toEqual({ temperature: t.default, topK: k.default, topP: p.default });
  expect(await LanguageModel.params()).toEqual({ ...PARAMS, defaultTopK: k.default, defaultTemperature: t.default });
});

test('sampling modes rise in temperature, and a session and its clone say theirs', async () => {
  const temperatures = MODES.map((samplingMode) => readOptions({ samplingMode }).temperature);
  expect(temperatures).toEqual([...new Set(temperatures)].sort((a, b) => a - b));
  expect(temperatures[0]).toBe(0);
  for (const samplingMode of MODES) {
    const session = await create({ samplingMode });
    expect(session.samplingMode).toBe(samplingMode);
    expect((await session.clone()).samplingMode).toBe(samplingMode);
  }
  expect((await create({})).samplingMode).toBe('balanced');
});

test.each([
  [{ topK: 3, temperature: 0.5 }, 3, 0.5],
  [{ topK: 1.5 }, 1, PARAMS.defaultTemperature],
  [{ temperature: 0 }, PARAMS.defaultTopK, 0],
  [{ topK: Number.POSITIVE_INFINITY, temperature: 99 }, PARAMS.maxTopK, PARAMS.maxTemperature],
])('%j: top-k %d, temperature %d, and no mode', async (options, topK, temperature) => {
  const { engine, asked } = scriptedEngine();
  const session = await createLanguageModel(engine).create(options);
  expect([session.topK, session.temperature, session.samplingMode]).toEqual([topK, temperature, null]);
  await session.prompt('hello');
  expect(asked[0].options).toMatchObject({ topK, temperature, topP: undefined });
});

test.each([{ topK: 0 }, { topK: -2 }, { topK: Number.NaN }, { temperature: -0.5 }])('%j is a RangeError', async (o) => {
  expect(await errorOf(create(o))).toBeInstanceOf(RangeError);
});

test.each([
  { samplingMode: 'balanced', topK: 3 },
  { samplingMode: 'balanced', temperature: 1 },
  { samplingMode: 'wild' },
  { samplingMode: 'toString' },
  { expectedInputs: [{ type: 'soup' }] },
  { expectedInputs: [{}] },
  { thinking: { effort: 'some' } },
])('%j is a TypeError', async (options) => {
  expect(await errorOf(create(options))).toBeInstanceOf(TypeError);
  expect(await errorOf(LanguageModel.availability(options as LanguageModelCreateOptions))).toBeInstanceOf(TypeError);
});

test('an answer never contains the thinking: a session that wants it is unavailable', async () => {
  const options = { thinking: { includeThoughts: true } };
  expect(await LanguageModel.availability(options)).toBe('unavailable');
  expect((await errorOf(create(options))).name).toBe('NotSupportedError');
  await create({ thinking: { includeThoughts: false } });
});

test('options are read as the browser reads a dictionary: null is none, and unknown members are ignored', async () => {
  for (const options of [null, undefined, {}, { samplingmode: 'creative', topk: 1 }, () => {}]) {
    expect(await LanguageModel.availability(options as object)).toBe('available');
    const session = await create(options as object);
    expect(session.samplingMode).toBe('balanced');
    expect(await session.prompt('hello', options as object)).toContain('hello');
    expect(await new Response(session.promptStreaming('b', options as object).pipeThrough(utf8())).text()).toContain(
      'b',
    );
    await session.append('c', options as object);
    expect(await session.measureContextUsage('c', options as object)).toBe(3);
    expect((await session.clone(options as object)).contextUsage).toBe(session.contextUsage);
  }
  expect(await create({ thinking: null })).toBeDefined();
});

test('options that are no object are a TypeError', async () => {
  const session = await create({});
  for (const wrong of ['creative', 5, true] as never[]) {
    const calls = [LanguageModel.availability, LanguageModel.create].map((call) => call.bind(LanguageModel)(wrong));
    const asks = [session.prompt('a', wrong), session.append('a', wrong), session.clone(wrong)];
    for (const call of [...calls, ...asks, session.measureContextUsage('a', wrong), create({ thinking: wrong })])
      expect(await errorOf(call)).toMatchObject({ name: 'TypeError', message: 'Options must be an object.' });
    expect(() => session.promptStreaming('a', wrong)).toThrow(TypeError);
  }
});

const utf8 = () => new TextEncoderStream();

test('language tags are well-formed or a RangeError', async () => {
  const expecting = (tag: string) => ({ expectedInputs: [{ type: 'text', languages: [tag] }] });
  await create(expecting('EN'));
  await create(expecting('de-CH-1901-x-phonebk-extended'));
  expect(await errorOf(create(expecting('en-abc-invalid')))).toBeInstanceOf(RangeError);
});

const now = { name: 'now', description: 'The time.', inputSchema: { type: 'object' }, execute: () => 'noon' };
const circle: Record<string, unknown> = { type: 'object' };
circle.self = circle;

test.each([
  ['no name', { ...now, name: '' }],
  ['no description', { ...now, description: '' }],
  ['no schema', { ...now, inputSchema: undefined }],
  ['a schema of null', { ...now, inputSchema: null }],
  ['a schema that is text', { ...now, inputSchema: 'text' }],
  ['a schema without type', { ...now, inputSchema: {} }],
  ['a schema of another type', { ...now, inputSchema: { type: 'string' } }],
  ['properties that are no object', { ...now, inputSchema: { type: 'object', properties: 'a' } }],
  ['required that is no list', { ...now, inputSchema: { type: 'object', required: 'a' } }],
  ['a schema with a circle', { ...now, inputSchema: circle }],
  ['execute that is no function', { ...now, execute: 'run' }],
  ['no execute, in a session that expects no calls', { ...now, execute: undefined }],
])('a tool with %s is a TypeError', async (_, tool) => {
  expect(await errorOf(create({ tools: [now, { ...now, ...tool, name: tool.name && 'other' }] }))).toBeInstanceOf(
    TypeError,
  );
});

test('two tools of one name are a TypeError, and an error of a getter stays what it is', async () => {
  expect(await errorOf(create({ tools: [now, now] }))).toBeInstanceOf(TypeError);
  const error = new Error('getter');
  const inputSchema = {
    type: 'object',
    get properties() {
      throw error;
    },
  };
  expect(await errorOf(create({ tools: [{ ...now, inputSchema }] }))).toBe(error);
});

test('tools may lack execute where the session expects calls, and there may be none', async () => {
  await create({ tools: [{ ...now, execute: undefined }], expectedOutputs: [{ type: 'tool-call' }] });
  await create({ tools: [], expectedOutputs: [{ type: 'tool-call' }] });
});
