// The flags of `generate`: values, refusals and the usage text.

import { expect, test } from 'vitest';
import { readFlags, UsageError } from '../../tools/lib/command_line/flags';
import {
  readGenerateFlags as parseFlags,
  toRequest,
  generateUsage as usage,
} from '../../tools/lib/generate/generate_flags';

test('every kind of flag, attached or apart', () => {
  const values = parseFlags(
    '--prompt hello --temperature=0.7 --top-k 40 --stop a --stop=b --raw --json --run-ahead auto --kv f32 --quantize q4'.split(
      ' ',
    ),
  );
  expect(values).toEqual({
    prompt: 'hello',
    temperature: 0.7,
    'top-k': 40,
    stop: ['a', 'b'],
    raw: true,
    json: true,
    'run-ahead': 'auto',
    kv: 'f32',
    quantize: 'q4',
  });
});

test('a count is a whole number from 1 on', () => {
  const flags = { histories: { kind: 'count', value: 'N', help: 'how many' } } as const;
  expect(readFlags(flags, ['--histories', '1'])).toEqual({ histories: 1 });
  for (const text of ['0', '-1']) {
    expect(() => readFlags(flags, ['--histories', text])).toThrow(`--histories ${text}: at least 1.`);
  }
  expect(() => readFlags(flags, ['--histories', '1.5'])).toThrow('not a whole number');
});

test('a value may be anything: empty, with dashes, with newlines and equals signs', () => {
  for (const text of ['', '--help', '- a list', 'a=b\n--c=d', '\u{1f431}', '"`$(x)`']) {
    expect(parseFlags(['--prompt', text]).prompt).toBe(text);
    expect(parseFlags([`--prompt=${text}`]).prompt).toBe(text);
  }
  expect(parseFlags(['--prompt', 'x', '--temperature', '-1']).temperature).toBe(-1);
});

for (const [line, complaint] of [
  ['', '--prompt is needed'],
  ['--prompt', '--prompt needs a value'],
  ['--prompt x --speed 9', 'Unknown argument --speed'],
  ['--prompt x y', 'Unknown argument y'],
  ['--prompt x --toString', 'Unknown argument --toString'],
  ['--prompt x --constructor 1', 'Unknown argument --constructor'],
  ['--prompt x --json=1', '--json takes no value'],
  ['--prompt x --max-tokens 1.5', 'not a whole number'],
  ['--prompt x --max-tokens=', 'not a whole number'],
  ['--prompt x --temperature hot', 'not a number'],
  ['--prompt x --temperature Infinity', 'not a number'],
  [
    '--prompt x --attention flash',
    'choose auto, cpu, eager, chunked, flash_prefill, flash_prefill_q8, fused_decode, split_kv_decode',
  ],
  ['--prompt x --backend tpu', 'choose auto, webgpu, cpu'],
  ['--prompt x --quantize q5', 'choose none, q8, q4'],
  ['--prompt x --chat --raw', 'exclude each other'],
  ['--prompt x --messages m.json', '--prompt and --messages exclude each other'],
  ['--messages m.json --raw', '--raw and --messages exclude each other'],
  ['--prompt x --raw --tools t.json', '--raw and --tools exclude each other'],
  ['--prompt x --json-object --grammar g.gbnf', '--json-object and --grammar exclude each other'],
  ['--prompt x --logit-bias 5', 'not pairs such as'],
  ['--prompt x --logit-bias -5=1', 'not pairs such as'],
  ['--prompt x --logit-bias 5=1,', 'not pairs such as'],
  ['--prompt x --logit-bias 5=hot', 'not a number'],
  ['--prompt x --thinking maybe', 'choose auto, on, off'],
  ['--prompt x --ignore-eos=yes', '--ignore-eos takes no value'],
]) {
  test(`"${line}" is refused`, () => {
    const parse = () => parseFlags(line ? line.split(' ') : []);
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(complaint);
  });
}

test('every flag of the usage is one that can be given', () => {
  const names = [...usage().matchAll(/^ {2}--([^\s=]+)/gm)].map(([, name]) => name);
  expect(names).toContain('sha256');
  for (const name of names) {
    const parse = () => parseFlags(['--prompt', 'x', `--${name}=1`]);
    expect(parse, name).not.toThrow('Unknown argument');
  }
});

test('--help needs no prompt, and the usage names every flag of the contract', () => {
  expect(parseFlags(['--help'])).toEqual({ help: true });
  const contract =
    'model chat raw max-tokens temperature top-k top-p min-p repetition-penalty seed stop context attention kv quantize backend run-ahead activations json tools messages continue-last thinking n min-tokens ignore-eos presence-penalty frequency-penalty logprobs logit-bias json-object json-schema grammar';
  for (const flag of contract.split(' ')) expect(usage()).toContain(`--${flag}`);
});

test('the request has the options of the table by key, and a run can be repeated unless it says otherwise', () => {
  const line =
    '--prompt x --model m --kv f32 --quantize q4 --context 64 --hub http://h --top-k 3 --run-ahead auto --stop a';
  expect(toRequest(parseFlags(line.split(' ')))).toEqual({
    model: 'm',
    prompt: 'x',
    chat: null,
    settings: undefined,
    load: { kvCache: 'f32', quantize: 'q4', contextLength: 64, hubUrl: 'http://h' },
    options: { temperature: 0, seed: 0, topK: 3, runAhead: 'auto', stop: ['a'] },
  });
});

test('an answer can be biased, repeated and asked for its probabilities', () => {
  const line = '--prompt x --logit-bias 5=-1,17=2.5 --n 2 --min-tokens 3 --ignore-eos --logprobs 5 --thinking off';
  expect(toRequest(parseFlags(line.split(' '))).options).toEqual({
    temperature: 0,
    seed: 0,
    logitBias: { 5: -1, 17: 2.5 },
    n: 2,
    minTokens: 3,
    ignoreEos: true,
    logprobs: 5,
    thinking: 'off',
  });
  expect(usage()).toMatch(/--logit-bias ID=N,\.\.\. +Added to the logits of tokens, by id\. -100 forbids a token\.\n/);
});

test.each([
  ['--tool-choice required', { toolChoice: 'required', continueLast: undefined }],
  ['--tool-choice weather', { toolChoice: { name: 'weather' }, continueLast: undefined }],
  ['--continue-last', { toolChoice: undefined, continueLast: true }],
])('%s goes to the chat template', (line, settings) => {
  expect(toRequest(parseFlags(['--messages', 'm.json', ...line.split(' ')])).settings).toEqual(settings);
});
