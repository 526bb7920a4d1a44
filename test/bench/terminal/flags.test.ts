// The command line of the bench: suites, flags, defaults and refusals.

import { expect, test } from 'vitest';
import { benchUsage, parseBench } from '../../../bench/terminal/flags';
import { UsageError } from '../../../tools/lib/command_line/flags';

const parse = (line: string) => {
  const command = parseBench(line.split(' ').filter(Boolean));
  if (command === 'help') throw new Error('--help was not asked for');
  return command;
};

test('a suite alone takes everything', () => {
  const { json, request } = parse('attention');
  expect([request.suite, json, request.quick]).toEqual(['attention', false, false]);
  expect(request.shapes).toEqual(['storyteller', 'llama-3.2-1b', 'llama-3.1-8b']);
  expect(request.attention).toHaveLength(8);
  expect([request.lengths, request.kv]).toEqual([null, 'f16']);
});

test('flags that are given again add up, each value once', () => {
  const { json, request } = parse(
    'attention --json --shape llama-3.1-8b --shape=llama-3.1-8b --attention auto --attention eager --lengths 64,128 --kv f32',
  );
  expect(json).toBe(true);
  expect(request).toMatchObject({
    shapes: ['llama-3.1-8b'],
    attention: ['auto', 'eager'],
    lengths: [64, 128],
    kv: 'f32',
  });
});

test('standards differ by suite, and --quick lowers them', () => {
  expect(parse('tune').request.shapes).toEqual(['llama-3.1-8b']);
  expect(parse('tune --quick').request.shapes).toEqual(['tiny']);
  expect(parse('tune --quick --shape llama-3.2-1b').request.shapes).toEqual(['llama-3.2-1b']);
  expect(parse('tune').request.only).toBeNull();
  expect(parse('tune --only products --activations f32 --quant q8').request).toMatchObject({
    only: 'products',
    activations: 'f32',
    quant: 'q8',
  });
  expect(parse('baseline').request.context).toBe(512);
  expect(parse('baseline --quick').request.context).toBe(64);
  expect(parse('baseline --context 100 --model x.gguf')).toMatchObject({ model: 'x.gguf', request: { context: 100 } });
});

test('decode and prefill: one model of synthetic weights, and the numbers of a round', () => {
  const { request } = parse('decode');
  expect(request).toMatchObject({
    shapes: ['llama-3.2-1b'],
    attention: ['auto'],
    quant: 'q4',
    kv: 'f16',
    step: 'auto',
    constrained: false,
    tuned: false,
    sweep: false,
  });
  expect(request).toMatchObject({ context: 512, tokens: 512, runAhead: 'auto', activations: 'auto', rounds: 3 });
  expect(parse('decode --quick').request).toMatchObject({
    shapes: ['tiny'],
    context: 32,
    tokens: 16,
    rounds: 1,
  });
  const asked =
    'decode --shape smollm2-135m --quant q8 --kv f32 --attention eager --run-ahead 4 --activations q8 --step plain --sweep';
  expect(parse(`${asked} --context 7 --tokens 9 --rounds 2`).request).toMatchObject({
    shapes: ['smollm2-135m'],
    attention: ['eager'],
    quant: 'q8',
    kv: 'f32',
    runAhead: 4,
    activations: 'q8',
    step: 'plain',
    constrained: false,
    tuned: false,
    sweep: true,
    context: 7,
    tokens: 9,
    rounds: 2,
  });
  expect(request.answer).toEqual({});
  const answer = 'decode --logprobs 5 --temperature 1 --frequency-penalty 0.5 --logit-bias 9=-100';
  expect(parse(answer).request.answer).toEqual({
    logprobs: 5,
    temperature: 1,
    frequencyPenalty: 0.5,
    logitBias: { 9: -100 },
  });
  expect(() => parse('prefill --logprobs 5')).toThrow('--logprobs');
  expect(parse('prefill').request).toMatchObject({ lengths: null, rounds: 5 });
  expect(parse('prefill --lengths 7,700').request.lengths).toEqual([7, 700]);
});

test('quality: stories of so many tokens', () => {
  expect(parse('quality').request).toMatchObject({ tokens: 200, kv: 'f16', quick: false });
  expect(parse('quality --tokens 7 --kv f32 --model x.gguf')).toMatchObject({
    model: 'x.gguf',
    request: { tokens: 7, kv: 'f32' },
  });
});

test('step: a model of synthetic weights unless one is named, steps beside a busy page, and texts', () => {
  expect(parse('step').request).toMatchObject({
    shapes: ['llama-3.2-1b'],
    quant: 'q4',
    madeUp: true,
    context: 512,
    steps: 1000,
    tokens: 200,
  });
  expect(parse('step --quick').request).toMatchObject({ shapes: ['tiny'], context: 32, steps: 8, tokens: 16 });
  expect(parse('step --model x.gguf --steps 5 --tokens 7')).toMatchObject({
    model: 'x.gguf',
    request: { madeUp: false, steps: 5, tokens: 7 },
  });
});

test('sdk: answers of so many tokens by the storyteller, or by the model that is named', () => {
  expect(parse('sdk')).toMatchObject({ model: undefined, browsers: 1, request: { tokens: 512, rounds: 3 } });
  expect(parse('sdk --quick').request).toMatchObject({ tokens: 16, rounds: 1 });
  expect(parse('sdk --browsers 2 --rounds 5 --tokens 7 --model x.gguf')).toMatchObject({
    model: 'x.gguf',
    browsers: 2,
    request: { tokens: 7, rounds: 5 },
  });
});

for (const [line, complaint] of [
  [
    '',
    'Which suite? Please choose roofline, attention, baseline, tune, prefill, decode, quality, step, race, matrices, kv, sdk.',
  ],
  ['--json', 'Which suite?'],
  [
    'attenton',
    'No suite attenton: choose roofline, attention, baseline, tune, prefill, decode, quality, step, race, matrices, kv, sdk.',
  ],
  ['toString', 'No suite toString'],
  ['roofline --kv f16', 'Unknown argument --kv.'],
  ['roofline extra', 'Unknown argument extra.'],
  ['attention --speed', 'Unknown argument --speed.'],
  ['attention --shape gpt-2', '--shape gpt-2: choose tiny, storyteller, smollm2-135m, llama-3.2-1b, llama-3.1-8b.'],
  ['decode --quant q5', '--quant q5: choose q4, q8, q4_k, q5_k, q6_k, f16.'],
  ['decode --step fast', '--step fast: choose auto, fused, plain.'],
  ['decode --run-ahead 0', '--run-ahead 0: at least 1.'],
  ['decode --run-ahead many', 'not a whole number'],
  ['decode --tokens 0', '--tokens 0: at least 1.'],
  ['decode --rounds 0', '--rounds 0: at least 1.'],
  ['step --steps 0', '--steps 0: at least 1.'],
  ['step --step plain', 'Unknown argument --step.'],
  ['decode --lengths 5', 'Unknown argument --lengths.'],
  ['prefill --lengths 0', '--lengths 0: not a list'],
  ['prefill --sweep', 'Unknown argument --sweep.'],
  ['attention --attention flash', '--attention flash: choose auto, cpu, eager'],
  ['attention --lengths 12,-3', '--lengths 12,-3: not a list of whole numbers'],
  ['attention --lengths=', 'not a list of whole numbers'],
  ['attention --lengths', '--lengths needs a value.'],
  ['quality --tokens 0', '--tokens 0: at least 1.'],
  ['baseline --context 0', '--context 0: at least 1.'],
  ['baseline --context 1.5', 'not a whole number'],
]) {
  test(`"${line}" is refused`, () => {
    expect(() => parse(line)).toThrow(UsageError);
    expect(() => parse(line)).toThrow(complaint);
  });
}

test('--help wins, and the usage names every suite and flag', () => {
  expect(parseBench(['attention', '--help'])).toBe('help');
  const words =
    'roofline: attention: baseline: tune: prefill: decode: quality: step: race: kv: --steps --shape --attention --lengths --kv --context --model --quant ' +
    '--tokens --run-ahead --activations --step --sweep --rounds --json --quick';
  for (const word of words.split(' ')) expect(benchUsage()).toContain(word);
});
