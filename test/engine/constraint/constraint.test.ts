// Constrained answers through the loop, on the GPU and on the CPU: JSON at any run-ahead, with every option of sampling.

import { Ajv2020 } from 'ajv/dist/2020';
import { describe, expect, test } from 'vitest';
import { maskTokens, START, walkToken } from '../../../src/cpu/grammar';
import type { Backend } from '../../../src/engine/backend/backend';
import { CpuBackend, loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import type {
  EngineEvent,
  GenerateInput,
  GenerateOptions,
  ResumedAnswer,
  TokenEvent,
} from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import type { Session } from '../../../src/engine/worker/request/session';
import { ConstraintError, InvalidRequestError } from '../../../src/errors';
import type { Automaton } from '../../../src/grammar/automaton';
import { compileAnswer, compileConstraint } from '../../../src/grammar/constraint';
import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { openModel } from '../../../src/storage/model_file';
import type { Tokenizer } from '../../../src/text/tokenizer';
import { testGpu } from '../../gpu/test_device';
import { droppedFolder } from '../../model/fixtures/files';
import { sharedRunAhead, TINY, tinyBackend } from '../doubles/loop_session';

const VOCABULARY = 259;
const EOS = 258;
const CONTEXT = 200;
const INPUT: GenerateInput = { ids: [195, 104, 122] };
const SCHEMA = {
  type: 'object',
  properties: {
    a: { enum: ['cat', 'Käse'] },
    b: { type: 'integer', maximum: 500 },
    c: { type: 'string', maxLength: 3 },
    d: { anyOf: [{ type: 'null' }, { $ref: '#' }] },
  },
  required: ['a', 'c'],
  additionalProperties: false,
};
/** A call is the control token 256, the name, an object, and the control token 257. */
const CALLS = {
  thinking: null,
  calls: { kind: 'json', begin: '<256>', middle: '', end: '', next: null, last: '<257>', tags: null, trigger: '<256>' },
  controls: ['<256>', '<257>'],
} as const;
const TOOL = {
  name: 'f',
  parameters: { type: 'object', properties: { a: { enum: ['cat', 'dog'] } }, required: ['a'] },
};
const { automaton: JSON_LINE } = compileConstraint({ kind: 'json_schema', schema: SCHEMA, layout: 'line' });
const isValid = new Ajv2020().compile(SCHEMA);

/** Id 65 is the letter A, 256 and 257 have no text, and 258 ends an answer. */
function byteTokenizer(changes: Partial<Tokenizer> = {}): Tokenizer {
  const tokenBytes = (id: number) => (id < 256 ? Uint8Array.of(id) : new Uint8Array());
  return {
    eosIds: [EOS],
    tokenBytes,
    decode: (ids: ArrayLike<number>) => new TextDecoder().decode(Uint8Array.from(ids)),
    tokenText: (id: number) => (id < 256 ? new TextDecoder().decode(tokenBytes(id)) : `<${id}>`),
    ...changes,
  } as Tokenizer;
}

const sessionOf = (backend: Backend, tokenizer = byteTokenizer()): Session => ({
  backend,
  tokenizer,
  template: null,
  vocabSize: VOCABULARY,
  form: CALLS, // of all sessions: the GPU keeps the tokens of the first one
  cachedIds: [],
});

async function cpuBackend(): Promise<Backend> {
  const files = await openModel(droppedFolder(new URL(`../../fixtures/llama/${TINY}`, import.meta.url).pathname));
  const config = readConfig(files);
  return new CpuBackend(config, await loadCpuWeights(resolveTensors(files, config)), CONTEXT);
}

const gpuBackend = (() => {
  let made: Promise<Backend> | null = null;
  return () => {
    made ??= testGpu().then((gpu) => tinyBackend(gpu, CONTEXT));
    return made;
  };
})();

interface Asked {
  automaton?: Automaton;
  onlyCalls?: boolean;
  input?: GenerateInput;
  resumed?: ResumedAnswer;
}

async function ask(session: Session, options: GenerateOptions, asked: Asked = {}) {
  const { automaton = JSON_LINE, onlyCalls = false, input = INPUT, resumed } = asked;
  const events: EngineEvent[] = [];
  await generate(
    session,
    input,
    options,
    (some) => events.push(...some),
    () => false,
    resumed,
    { automaton, onlyCalls },
  );
  const tokens = events.filter((event): event is TokenEvent => event.type === 'token');
  const done = events.findLast((event) => event.type === 'done');
  const text = tokens.map((token) => token.text).join('') + (done?.text ?? '');
  return { ids: tokens.map(({ id }) => id), tokens, text, done };
}

const PLAIN = { temperature: 1, topK: 0, topP: 1, minP: 0 };
const VARIANTS: Record<string, GenerateOptions> = {
  greedy: { temperature: 0 },
  'without filters': PLAIN,
  'with all filters': { temperature: 1.3, topK: 20, topP: 0.9, minP: 0.02 },
  'with biases and penalties': {
    ...PLAIN,
    logitBias: { 34: 2, 99: -100 },
    repetitionPenalty: 1.2,
    presencePenalty: 0.5,
  },
};

/** Ids that the document at the end of some ids allows. */
function allowedAfter(ids: readonly number[]): Set<number> {
  const tokens = Array.from({ length: VOCABULARY }, (_, id) => byteTokenizer().tokenBytes(id));
  const place = ids.reduce((at, id) => walkToken(JSON_LINE, at, tokens[id]) ?? at, START);
  const mask = maskTokens(JSON_LINE, place, tokens, [EOS]);
  return new Set([...mask.keys()].filter((id) => mask[id] === 1));
}

describe.each([
  ['the GPU', gpuBackend],
  ['the CPU', cpuBackend],
] as const)('on %s', (_name, makeBackend) => {
  test.each(Object.entries(VARIANTS))('an answer is JSON that fits, %s', async (_variant, options) => {
    const session = sessionOf(await makeBackend());
    const { text, ids, done } = await ask(session, { ...options, seed: 1, maxTokens: 50 });
    expect(done?.finishReason).toBe(ids.at(-1) === EOS ? 'eos' : 'length');
    if (done?.finishReason === 'eos') expect(isValid(JSON.parse(text)), text).toBe(true);
    for (const i of ids.keys()) expect(allowedAfter(ids.slice(0, i))).toContain(ids[i]);
  });

  test('log probabilities are those of the allowed tokens', async () => {
    const session = sessionOf(await makeBackend());
    for (const logitBias of [{}, { 34: 1 }] as Record<number, number>[]) {
      const { tokens, ids } = await ask(session, { ...PLAIN, logitBias, seed: 4, maxTokens: 10, logprobs: 20 });
      for (const [i, { logprobs }] of tokens.entries()) {
        const allowed = allowedAfter(ids.slice(0, i));
        expect(logprobs?.chosen.id).toBe(ids[i]);
        expect(logprobs?.top.length).toBe(Math.min(20, allowed.size));
        for (const { id } of logprobs?.top ?? []) expect(allowed).toContain(id);
        const sum = (logprobs?.top ?? []).reduce((all, { logprob }) => all + Math.exp(logprob), 0);
        if (allowed.size <= 20) expect(sum).toBeCloseTo(1, 4);
      }
    }
  });

  test('one constraint after another, and none', async () => {
    const session = sessionOf(await makeBackend());
    const options = { ...PLAIN, seed: 9, maxTokens: 12 };
    const free = await generateFree(session, options);
    const choice = compileConstraint({ kind: 'choice', texts: ['yes', 'no', 'perhaps'] }).automaton;
    expect(['yes', 'no', 'perhaps']).toContain((await ask(session, options, { automaton: choice })).text);
    const large = compileConstraint({ kind: 'choice', texts: Array.from({ length: 900 }, (_, i) => `${i * 7919}`) });
    expect(Number((await ask(session, options, { automaton: large.automaton })).text) % 7919).toBe(0);
    expect(['yes', 'no', 'perhaps']).toContain((await ask(session, options, { automaton: choice })).text);
    expect(await generateFree(session, options)).toEqual(free);
  });

  test('an answer that is cut has the reason length', async () => {
    const { done, text } = await ask(sessionOf(await makeBackend()), { ...PLAIN, maxTokens: 5 });
    expect(done?.finishReason).toBe('length');
    expect(text).toBe('{"a":');
  });

  test('beside calls an answer is free, and a call keeps to the schema of its tool', async () => {
    const session = sessionOf(await makeBackend());
    const { automaton } = compileAnswer({ form: CALLS, tools: [TOOL], isForced: false });
    const options = { ...PLAIN, seed: 5, maxTokens: 40 };
    const calls = { automaton, onlyCalls: true };
    expect((await ask(session, options, calls)).ids).toEqual(await generateFree(session, options));
    // Id 256 is the control token that begins a call, and the answer was told up to it.
    const resumed = { promptIds: [195, 104, 122], ids: [104, 105, 256] };
    for (const seed of [1, 2, 3]) {
      const { ids } = await ask(session, { ...options, seed, logitBias: { 125: 3 } }, { ...calls, resumed });
      const end = ids.indexOf(257);
      expect(end).toBeGreaterThan(0);
      const text = new TextDecoder().decode(Uint8Array.from(ids.slice(0, end)));
      expect(text.slice(0, 2)).toBe('f{');
      expect(['cat', 'dog']).toContain(JSON.parse(text.slice(1)).a);
    }
  });

  test('a resumed answer goes on as it would have', async () => {
    const backend = await makeBackend();
    const options = { ...PLAIN, seed: 3, maxTokens: 16 };
    const whole = await ask(sessionOf(backend), options);
    for (const stepBoundMs of [0, 1e6]) {
      for (const count of [1, 9]) {
        // The second bound lets told ids run in a prefill instead of steps.
        const other = Object.assign(Object.create(backend) as Backend, { stepBoundMs });
        const resumed = { promptIds: [195, 104, 122], ids: whole.ids.slice(0, count) };
        const rest = await ask(sessionOf(other), options, { resumed });
        expect([...resumed.ids, ...rest.ids]).toEqual(whole.ids);
      }
    }
    const resumed = { promptIds: [195, 104, 122], ids: [...new TextEncoder().encode('{"z')] };
    const other = Object.assign(Object.create(backend) as Backend, { stepBoundMs: 1e6 });
    await expect(ask(sessionOf(other), options, { resumed })).rejects.toThrow(InvalidRequestError);
  });
});

async function generateFree(session: Session, options: GenerateOptions): Promise<number[]> {
  const ids: number[] = [];
  const emit = (events: readonly EngineEvent[]) =>
    void ids.push(...events.flatMap((event) => (event.type === 'token' ? [event.id] : [])));
  await generate(session, INPUT, options, emit, () => false);
  return ids;
}

test('any run-ahead writes the same', async () => {
  const options = { ...PLAIN, seed: 6, maxTokens: 30 };
  const session = sessionOf(await gpuBackend());
  const single = await ask(session, { ...options, runAhead: 1 });
  expect((await ask(session, { ...options, runAhead: 16 })).ids).toEqual(single.ids);
  const { maxRunAhead } = session.backend;
  expect(maxRunAhead).toBeGreaterThan(1);
  session.runAhead = sharedRunAhead();
  expect((await ask(session, options)).ids).toEqual(single.ids);
  expect((await ask(sessionOf(await cpuBackend()), { ...options, runAhead: 1 })).ids).toEqual(single.ids);
});

describe('vocabularies', () => {
  test('the space before the first word is no part of the document', async () => {
    // Decoded texts lose their first space, as with SentencePiece; the prompt has no text.
    const decode = (ids: ArrayLike<number>) => new TextDecoder().decode(Uint8Array.from(ids)).replace(/^ /, '');
    const session = sessionOf(await gpuBackend(), byteTokenizer({ decode }));
    const choice = compileConstraint({ kind: 'choice', texts: ['ab'] }).automaton;
    const options = { temperature: 0, logitBias: { 32: 100 } };
    const spaced = await ask(session, options, { automaton: choice, input: { ids: [256] } });
    expect(spaced.ids).toEqual([32, 97, 98, EOS]);
    expect(spaced.text).toBe('ab');
    const goesOn = await ask(session, options, { automaton: choice, input: { ids: [97] } });
    expect(goesOn.ids).toEqual([97, 98, EOS]);
  });

  test('what a vocabulary cannot write is left out, or refused', async () => {
    const backend = await gpuBackend();
    const without = (...missing: number[]) => {
      const { tokenBytes } = byteTokenizer();
      const changed = (id: number) => (missing.includes(id) ? new Uint8Array() : tokenBytes(id));
      return sessionOf(backend, byteTokenizer({ tokenBytes: changed }));
    };
    const choice = compileConstraint({ kind: 'choice', texts: ['Käse', 'Brot'] }).automaton;
    const options = { ...PLAIN, seed: 1, logitBias: { 75: 100 } };
    expect((await ask(without(), options, { automaton: choice })).text).toBe('Käse');
    expect((await ask(without(0xc3), options, { automaton: choice })).text).toBe('Brot');
    await expect(ask(without(0x73, 0x42), options, { automaton: choice })).rejects.toThrow(ConstraintError);
    const noEnd = sessionOf(backend, byteTokenizer({ eosIds: [] }));
    await expect(ask(noEnd, options)).rejects.toThrow(ConstraintError);
  });
});

test('options that rule a constraint out are refused', async () => {
  const session = sessionOf(await gpuBackend());
  for (const options of [{ minTokens: 3 }, { ignoreEos: true }]) {
    await expect(ask(session, options)).rejects.toThrow(InvalidRequestError);
  }
});
