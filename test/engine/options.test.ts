// The table of options: legal defaults, names that differ, values read from text, and what is refused.

import { expect, test } from 'vitest';
import type {
  EngineChatOptions,
  EngineGenerateOptions,
  EngineLoadOptions,
  EngineTokenizeOptions,
  EngineTuneOptions,
} from '../../src/engine/engine';
import { isLegal, readValue, resolveOptions } from '../../src/engine/option_values';
import { BESIDE, GENERATE_OPTIONS, LOAD_OPTIONS, type Option } from '../../src/engine/options';
import type { EmbedOptions } from '../../src/engine/protocol';

test.each(Object.entries({ ...LOAD_OPTIONS, ...GENERATE_OPTIONS }))('%s has a legal default', (_, option: Option) => {
  if (option.default !== undefined) expect(isLegal(option, option.default)).toBe(true);
  if ('slider' in option) for (const edge of option.slider?.slice(0, 2) ?? []) expect(isLegal(option, edge)).toBe(true);
});

test('names differ, so that an address, an attribute and a flag say one thing', () => {
  const names = Object.entries<Option>({ ...LOAD_OPTIONS, ...GENERATE_OPTIONS }).map(([key, { name = key }]) => name);
  expect(new Set(names).size).toBe(names.length);
});

test.each<[string, Option, string, unknown]>([
  ['a number', GENERATE_OPTIONS.temperature, '0.5', 0.5],
  ['a number out of range', GENERATE_OPTIONS.temperature, '-1', undefined],
  ['no number', GENERATE_OPTIONS.temperature, '', undefined],
  ['a part of a whole number', LOAD_OPTIONS.contextLength, '2.5', undefined],
  ['a numeral of another kind', LOAD_OPTIONS.contextLength, '1e3', undefined],
  ['the word beside a number', GENERATE_OPTIONS.runAhead, 'auto', 'auto'],
  ['a choice', LOAD_OPTIONS.quantize, 'q4', 'q4'],
  ['a name that every object has', LOAD_OPTIONS.quantize, 'toString', undefined],
])('%s from text', (_, option, text, value) => {
  expect(readValue(option, text)).toBe(value);
});

test('what is illegal is refused with its name, the legal values and itself, cut short', () => {
  const resolve = (options: object) => () => resolveOptions({ ...LOAD_OPTIONS, ...GENERATE_OPTIONS }, options);
  expect(resolve({ attention: 'magic' })).toThrow(
    'attention must be auto, cpu, eager, chunked, flash_prefill, flash_prefill_q8, fused_decode or split_kv_decode, got magic.',
  );
  expect(resolve({ runAhead: 0 })).toThrow('runAhead must be auto or a whole number of at least 1, got 0.');
  expect(resolve({ gpuTimes: 1 })).toThrow('gpuTimes must be true or false, got 1.');
  expect(resolve({ sha256: 'x'.repeat(200) })).toThrow(`sha256 must be 64 hex digits, got ${'x'.repeat(80)}.`);
  expect(resolve({ hubUrl: null })).toThrow('hubUrl must be an http or https address, got null.');
  expect(resolve({ logitBias: { 5: 101 } })).toThrow('from -100 to 100, got {"5":101}.');
  expect(resolve({ stop: [''] })).toThrow('at least one character, got [""].');
  expect(resolve({ logitBias: { 5: 1n } })).toThrow('from -100 to 100, got what JSON cannot hold.');
  expect(resolve({ seed: { toString: 5 } })).toThrow('to 4294967295, got {"toString":5}.');
});

type Beside<T, K> = Record<Exclude<keyof T, keyof K>, true>;

test('an unknown option is answered with all that the call takes', () => {
  const load: Beside<EngineLoadOptions, typeof LOAD_OPTIONS> = { workerUrl: true, onProgress: true, signal: true };
  const complete: Beside<EngineGenerateOptions, typeof GENERATE_OPTIONS> = { signal: true };
  const chat: Beside<EngineChatOptions, typeof GENERATE_OPTIONS> = {
    tools: true,
    toolChoice: true,
    templateArguments: true,
    continueLast: true,
    signal: true,
  };
  const { signal, ...tokenize }: Beside<EngineTokenizeOptions & { signal: unknown }, typeof GENERATE_OPTIONS> = chat;
  const embed: Beside<EmbedOptions & { signal: unknown }, object> = { dimensions: true, signal };
  const tune: Beside<EngineTuneOptions, object> = { onResult: true, signal };
  const roofline = { signal };
  const named = Object.fromEntries(
    Object.entries({ load, complete, chat, tokenize, embed, tune, roofline }).map(([call, all]) => [
      call,
      Object.keys(all),
    ]),
  );
  expect(BESIDE).toEqual(named);
  expect(() => resolveOptions(LOAD_OPTIONS, { onprogress: 1 } as object, BESIDE.load)).toThrow(
    /^onprogress is no option, but onProgress is\. Choose among contextLength, .*, hubUrl, workerUrl, onProgress, signal\.$/,
  );
});

test.each([
  ['max_tokens', 'maxTokens'],
  ['top_p', 'topP'],
  ['TopK', 'topK'],
  ['tempature', 'temperature'],
  ['stops', 'stop'],
  ['logit-bias', 'logitBias'],
])('beside the unknown option %s stands %s, which was meant', (given, meant) => {
  const message = new RegExp(`^${given} is no option, but ${meant} is\\. Choose`);
  expect(() => resolveOptions(GENERATE_OPTIONS, { [given]: 1 })).toThrow(message);
});

test('an unknown option that is near none names none', () => {
  expect(() => resolveOptions(GENERATE_OPTIONS, { m: 1 } as object)).toThrow(/^m is no option\. Choose/);
});
