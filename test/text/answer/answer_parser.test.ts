// Arriving ids to the parts of an answer, for syntaxes of several kinds, and for what models do wrong.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAnswerParser } from '../../../src/text/answer/answer_parser';
import type { AnswerOptions, AnswerPart } from '../../../src/text/answer/answer_part';
import { AnswerSplitter } from '../../../src/text/answer/answer_splitter';
import { readCalls } from '../../../src/text/answer/call_parser';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { createChatTemplate } from '../../../src/text/template/chat_template';
import type { Tool } from '../../../src/text/template/message';
import { SEED } from '../arbitraries';
import { files, type Json, projectFile, readJson } from '../fixtures';
import { byteLevelJson } from '../tiny_vocabulary';

const { templates } = readJson(projectFile('test/fixtures/tokenizer/chat_templates.json')) as {
  templates: Record<string, string>;
} & Json;
const tokenizer = createTokenizer(files({ tokenizerJson: byteLevelJson() }));
const syntaxOf = (name: string) => createChatTemplate(templates[name], { bosToken: '<s>', eosToken: '</s>' }).syntax;
const QWEN = syntaxOf('Qwen-Qwen3-0.6B');
const LLAMA = syntaxOf('meta-llama-Llama-3.2-3B-Instruct');
const CODER = syntaxOf('Qwen3-Coder');
const LFM = syntaxOf('LFM2.5-8B-A1B');
const GEMMA = syntaxOf('google-gemma-4-31B-it');
const TOOLS: Tool[] = [
  { name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' }, n: { type: 'integer' } } } },
  { name: 'stop' },
];

const BYTES = Array.from({ length: 256 }, (_, id) => tokenizer.tokenBytes(id)[0]);
/** One token per byte. */
const bytes = (text: string) => Array.from(new TextEncoder().encode(text), (byte) => BYTES.indexOf(byte));

/** The whole answer: text, thinking, calls and errors, however they came. */
function read(ids: ArrayLike<number>, options: AnswerOptions, by = tokenizer) {
  const parser = createAnswerParser(by, { readCalls, ...options });
  let text = '';
  const parts: AnswerPart[] = [];
  for (const id of Array.from(ids)) {
    text += parser.push(id);
    parts.push(...parser.parts);
  }
  text += parser.flush();
  parts.push(...parser.parts);
  const calls: { name?: string; json: string }[] = [];
  const errors: { index: number; message: string; text: string }[] = [];
  let thinking = '';
  for (const part of parts) {
    if (part.type === 'reasoning') thinking += part.text;
    else if (part.type === 'tool-call-error') errors.push({ ...part });
    else {
      calls[part.index] ??= { name: part.name, json: '' };
      calls[part.index].json += part.arguments;
      expect(part.name === undefined).toBe(part.id === undefined);
      if (part.id !== undefined) expect(part.id).toMatch(/^call_[0-9a-f]{24}$/);
    }
  }
  return { text, thinking, calls, errors, parser };
}

const said = (text: string, options: AnswerOptions) => read(bytes(text), { tools: TOOLS, ...options });

test('an answer without syntax is text, up to the stop string', () => {
  const { text, parser } = read(bytes('Hello END more'), { stop: ['END'] });
  expect(text).toBe('Hello ');
  expect(parser).toMatchObject({ parts: [], stopped: true, reasoningTokens: 0, calls: 0 });
});

describe('thinking', () => {
  const ANSWER = '<think>\nFirst.\n\nThen.\n</think>\n\nIt is 2.';

  test('is split from the text, without the spaces between them', () => {
    const { text, thinking, parser } = said(ANSWER, { syntax: QWEN });
    expect({ text, thinking }).toEqual({ text: 'It is 2.', thinking: 'First.\n\nThen.' });
    expect(parser.reasoningTokens).toBe('<think>\nFirst.\n\nThen.\n</think>'.length - '<think'.length);
  });

  test('stays in the text if asked', () => {
    const { text, thinking } = said(ANSWER, { syntax: QWEN, reasoning: 'text' });
    expect({ text, thinking }).toEqual({ text: ANSWER, thinking: '' });
  });

  test('may have begun in the prompt', () => {
    const begun = '<think>\n';
    expect(said(ANSWER.slice(begun.length), { syntax: QWEN, begun })).toMatchObject({ text: 'It is 2.' });
    expect(said('Wh', { syntax: QWEN, begun })).toMatchObject({ text: '', thinking: 'Wh' });
    expect(said('Wh', { syntax: QWEN, begun, reasoning: 'text' })).toMatchObject({ text: '<think>\nWh', thinking: '' });
  });

  test.each(['They greet', 'They greet ', 'They greet \u{1f44b}', 'They <'])(
    'that goes on, %s, is not told again',
    (thought) => {
      const begun = `<think>\n${thought}`;
      const options = { syntax: QWEN, begun, goesOn: true };
      expect(said('back.\n</think>\n\nHi', options)).toMatchObject({ thinking: 'back.', text: 'Hi' });
      expect(said('', options)).toMatchObject({ thinking: '', text: '' });
    },
  );

  test('begins an answer, and is text anywhere else', () => {
    const late = 'Use <think> and </think>.';
    expect(said(late, { syntax: QWEN })).toMatchObject({ text: late, thinking: '' });
  });

  test('is not searched for stop strings', () => {
    const { text, parser } = said(ANSWER, { syntax: QWEN, stop: ['\n\n', '2'] });
    expect({ text, stopped: parser.stopped }).toEqual({ text: 'It is ', stopped: true });
  });
});

describe('calls', () => {
  test.each([
    ['as shown', '<tool_call>\n{"name": "look", "arguments": {"at": "a"}}\n</tool_call>'],
    ['without spaces', '<tool_call>{"name":"look","arguments":{"at": "a"}}</tool_call>'],
    ['with more spaces', '<tool_call>\n\n{ "name" : "look",\n  "arguments" : {"at": "a"} }\n\n</tool_call>\n'],
    ['without an end', '<tool_call>\n{"name": "look", "arguments": {"at": "a"}}'],
    ['in another order', '<tool_call>\n{"arguments": {"at": "a"}, "name": "look"}\n</tool_call>'],
    [
      'with its arguments as text',
      String.raw`<tool_call>
{"name": "look", "arguments": "{\"at\": \"a\"}"}
</tool_call>`,
    ],
    [
      'with its arguments as text, without an end',
      String.raw`<tool_call>{"name": "look", "arguments": "{\"at\": \"a\"}"}`,
    ],
    [
      'with its arguments as text, in another order',
      String.raw`<tool_call>{"arguments": "{\"at\": \"a\"}", "name": "look"}</tool_call>`,
    ],
  ])('of JSON: %s', (_, answer) => {
    const { text, calls, errors, parser } = said(answer, { syntax: QWEN });
    expect({ text: text.trim(), errors, count: parser.calls }).toEqual({ text: '', errors: [], count: 1 });
    expect(calls.map(({ name, json }) => [name, JSON.parse(json)])).toEqual([['look', { at: 'a' }]]);
  });

  test.each([
    ['as shown', '"name": "look", "arguments": {"at": 123456789012345678901, "n": 2.0, "t": "1.50"}'],
    ['in another order', '"arguments": {"at": 123456789012345678901, "n": 2.0, "t": "1.50"}, "name": "look"'],
    [
      'with its arguments as text',
      String.raw`"name": "look", "arguments": "{\"at\": 123456789012345678901, \"n\": 2.0, \"t\": \"1.50\"}"`,
    ],
    [
      'in another order, with a NUL',
      String.raw`"arguments": {"at": 1, "t": "\u00002"}, "name": "look"`,
      String.raw`{"at":1,"t":"\u00002"}`,
    ],
  ])(
    'of JSON keep the spelling of numbers: %s',
    (_, call, json = '{"at":123456789012345678901,"n":2.0,"t":"1.50"}') => {
      const { calls, errors } = said(`<tool_call>\n{${call}}\n</tool_call>`, { syntax: QWEN });
      expect([errors, calls.map((call) => call.json.replaceAll(' ', ''))]).toEqual([[], [json]]);
    },
  );

  test('stream their arguments as they come', () => {
    const parser = createAnswerParser(tokenizer, { syntax: QWEN, tools: TOOLS, readCalls });
    const pieces = bytes('<tool_call>\n{"name": "look", "arguments": {"at": "a').flatMap((id) => {
      parser.push(id);
      return parser.parts.map((part) => (part.type === 'tool-call' ? part.arguments : null));
    });
    expect(pieces).toEqual(['', ...'{"at": "a']);
  });

  test('of JSON in another order or with arguments as text follow one another', () => {
    const forms = [
      '"name": "look", "arguments": {"at": "a"}',
      String.raw`"name": "look", "arguments": "{\"at\": \"a\"}"`,
      '"arguments": {"at": "a"}, "name": "look"',
    ];
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 1, 0, 2, 2],
    ]) {
      const answer = order.map((i) => `<tool_call>\n{${forms[i]}}\n</tool_call>`).join('\n');
      const { calls, errors, parser } = said(answer, { syntax: QWEN });
      expect([errors, parser.calls]).toEqual([[], order.length]);
      expect(calls.map(({ name, json }) => [name, JSON.parse(json)])).toEqual(order.map(() => ['look', { at: 'a' }]));
    }
  });

  test('follow text and one another', () => {
    const one = '<tool_call>\n{"name": "look", "arguments": {"n": 1}}\n</tool_call>';
    const { text, calls } = said(`I look.${one}\n${one}`, { syntax: QWEN });
    expect(text).toBe('I look.');
    expect(calls).toEqual([
      { name: 'look', json: '{"n": 1}' },
      { name: 'look', json: '{"n": 1}' },
    ]);
  });

  test.each([
    [
      'tags',
      CODER,
      '<tool_call>\n<function=look>\n<parameter=at>\n a\nb \n</parameter>\n<parameter=n>\n7\n</parameter>\n</function>\n</tool_call>',
      { at: ' a\nb ', n: 7 },
    ],
    [
      'tags, texts that look like numbers',
      CODER,
      '<tool_call><function=look><parameter=at>7</parameter></function></tool_call>',
      { at: '7' },
    ],
    [
      'tags, JSON with escapes',
      CODER,
      String.raw`<tool_call><function=look><parameter=n>["caf\u00e9", "a\/b"]</parameter></function></tool_call>`,
      { n: ['café', 'a/b'] },
    ],
    [
      'Python, escapes',
      LFM,
      String.raw`<|tool_call_start|>[look(at='caf\u00e9 \d\n')]<|tool_call_end|>`,
      { at: 'café \\d\n' },
    ],
    ['Python', LFM, `<|tool_call_start|>[look(at='it\\'s "a"', n=-7)]<|tool_call_end|>`, { at: 'it\'s "a"', n: -7 }],
    [
      'Python, nested',
      LFM,
      `<|tool_call_start|>[look(at=[True, None, {'k': "(v)"}, 1.5])]<|tool_call_end|>`,
      { at: [true, null, { k: '(v)' }, 1.5] },
    ],
    [
      'words between markers',
      GEMMA,
      '<|tool_call>call:look{at:<|"|>a, {b}<|"|>,n:7}<tool_call|>',
      { at: 'a, {b}', n: 7 },
    ],
    [
      'words between markers, nested',
      GEMMA,
      '<|tool_call>call:look{at:{x:[<|"|>a<|"|>,true],y:{}}}<tool_call|>',
      { at: { x: ['a', true], y: {} } },
    ],
    ['bare JSON', LLAMA, '{"name": "look", "parameters": {"at": "a"}}', { at: 'a' }],
  ] as const)('of other kinds: %s', (_, syntax, answer, wanted) => {
    const { text, calls, errors } = said(answer, { syntax });
    expect({ text, errors }).toEqual({ text: '', errors: [] });
    expect(calls.map(({ name, json }) => [name, JSON.parse(json)])).toEqual([['look', wanted]]);
  });

  test.each<[string, Json, string, unknown]>([
    ['text or none', { type: ['string', 'null'] }, '12345', '12345'],
    ['text or none', { type: ['string', 'null'] }, '{"a": 1}', '{"a": 1}'],
    ['text or none', { type: ['string', 'null'] }, 'null', null],
    ['text or none', { type: ['string', 'null'] }, '"quoted"', 'quoted'],
    ['text or none by choice', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 'true', 'true'],
    ['text or a number', { type: ['string', 'integer'] }, '7', 7],
    ['text or a number', { type: ['string', 'integer'] }, '7 days', '7 days'],
    ['one of some texts', { enum: ['7', '8'] }, '7', '7'],
    ['a text in quotes', { enum: ['7'] }, '"7"', '7'],
    ['one text', { const: '7' }, '7', '7'],
    ['one number', { const: 7 }, '7', 7],
    ['one of two texts by choice', { anyOf: [{ const: 'true' }, { enum: ['7', '8'] }] }, '7', '7'],
    ['text by a choice within', { oneOf: [{ anyOf: [{ type: 'string' }] }, { type: 'null' }] }, '[]', '[]'],
    ['text or anything', { anyOf: [{ const: '7' }, { description: 'any' }] }, '[]', []],
    ['text or what is defined elsewhere', { anyOf: [{ type: 'string' }, { $ref: '#/$defs/a' }] }, '{}', {}],
    ['nothing', {}, '7', 7],
  ])('between tags have values by their schema: %s', (_, schema, value, wanted) => {
    const tools = [{ name: 'look', parameters: { type: 'object', properties: { at: schema } } }];
    const answer = `<tool_call><function=look><parameter=at>${value}</parameter></function></tool_call>`;
    const { calls, errors } = read(bytes(answer), { syntax: CODER, tools });
    expect([errors, JSON.parse(calls[0].json)]).toEqual([[], { at: wanted }]);
  });

  const between = (value: string, end = '</function>\n</tool_call>') =>
    `<tool_call>\n<function=look>\n<parameter=at>\n${value}\n</parameter>\n${end}`;

  test.each(['    a\n  b  ', '\n\na\n', '', 'a</parameter> b', 'a\n</parameter>\n.\n</parameter>\nb', ' '])(
    'between tags keep the spaces and the tags in a text, in whatever pieces: %j',
    (at) => {
      const answer = between(at);
      for (const pieces of [[answer], Array.from(answer), answer.split(/(?<=\s)/), answer.split(/(?=<)/)]) {
        const splitter = new AnswerSplitter({ syntax: CODER, tools: TOOLS, readCalls });
        const text = [...pieces, ''].map((piece, i) => splitter.add(piece, i === pieces.length)).join('');
        const json = splitter.parts.map((part) => (part.type === 'tool-call' ? part.arguments : part.type)).join('');
        expect({ text, args: JSON.parse(json), calls: splitter.calls }).toEqual({ text: '', args: { at }, calls: 1 });
      }
    },
  );

  test('between tags may be data of XML', () => {
    const { calls } = said(between('<![CDATA[<p>\n&]]>').replaceAll(/(?<=>)\n(?=<!)|(?<=\])\n(?=<)/g, ''), {
      syntax: CODER,
    });
    expect(JSON.parse(calls[0].json)).toEqual({ at: '<p>\n&' });
  });

  test('between tags may lack the first of two ends, but hold no other tag', () => {
    const { text, calls, errors, parser } = said(`${between('a', '</tool_call>')}\nDone.`, { syntax: CODER });
    expect({ text, errors, calls: calls.map(({ json }) => json) }).toEqual({
      text: 'Done.',
      errors: [],
      calls: ['{"at": "a"}'],
    });
    expect(parser.calls).toBe(1);
    const cut = between('a\n</parameter></p>');
    expect(said(cut, { syntax: CODER })).toMatchObject({
      text: '',
      errors: [{ message: 'The call has another form than the chat template shows.', text: cut }],
      parser: { calls: 0 },
    });
  });

  test('between markers hold no marker', () => {
    const cut = '<|tool_call>call:look{at:<|"|>a<|"|>}b<|"|>}<tool_call|>';
    expect(said(cut, { syntax: GEMMA })).toMatchObject({
      text: '',
      errors: [{ message: 'The call has another form than the chat template shows.', text: cut }],
      parser: { calls: 0 },
    });
  });

  test('may come before thinking, which stays in the text if asked', () => {
    const answer = '<tool_call>\n{"name": "stop", "arguments": {}}\n</tool_call>\n\n<think>\na\n</think>\n\nb';
    for (const pieces of [[answer], Array.from(answer)]) {
      const splitter = new AnswerSplitter({ syntax: QWEN, tools: TOOLS, readCalls, reasoning: 'text' });
      const text = [...pieces, ''].map((piece, i) => splitter.add(piece, i === pieces.length)).join('');
      expect({ text, calls: splitter.calls }).toEqual({ text: '<think>\na\n</think>\n\nb', calls: 1 });
    }
  });

  test('that are wrong have their text without the spaces around it', () => {
    const wrong = '<tool_call>look(1)</tool_call>';
    const answer = `<think>\n\n</think>\n\n${wrong}\n\n${wrong}`;
    for (const ids of [bytes(answer), tokenizer.encodePlain(answer)]) {
      expect(read(ids, { syntax: QWEN, tools: TOOLS }).errors.map(({ text }) => text)).toEqual([wrong, wrong]);
    }
  });

  test.each([
    ['none without tools', QWEN, '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>', []],
    ['JSON of an answer', LLAMA, '{"name": "Bob", "age": 7}', TOOLS],
    ['the beginning of JSON', LLAMA, '{"name": "Bob', TOOLS],
    ['JSON behind text', LLAMA, 'So: {"name": "look", "parameters": {}}', TOOLS],
    ['half a tag', QWEN, 'a <tool_', TOOLS],
  ] as const)('are not seen in %s', (_, syntax, answer, tools) => {
    const { text, calls, errors } = read(bytes(answer), { syntax, tools });
    expect({ text, calls, errors }).toEqual({ text: answer, calls: [], errors: [] });
  });

  test.each([
    ['an unknown tool', '<tool_call>\n{"name": "fly", "arguments": {}}\n</tool_call>', 'The tool "fly" is unknown.'],
    [
      'wrong JSON',
      '<tool_call>\n{"name": "look", "arguments": {at: 1}}\n</tool_call>',
      'The arguments are no JSON object.',
    ],
    ['no object', '<tool_call>\n{"name": "look", "arguments": 7}\n</tool_call>', 'The arguments are no JSON object.'],
    [
      'no object in a text',
      '<tool_call>\n{"name": "look", "arguments": "7"}\n</tool_call>',
      'The arguments are no JSON object.',
    ],
    [
      'no JSON in a text',
      '<tool_call>\n{"name": "look", "arguments": "{at: 1}"}\n</tool_call>',
      'The arguments are no JSON object.',
    ],
    ['a cut call', '<tool_call>\n{"name": "look", "arguments": {"at": "', 'The call has no end.'],
    ['another form', '<tool_call>look(1)</tool_call>', 'The call has another form than the chat template shows.'],
  ])('that are wrong are errors with their text: %s', (_, answer, message) => {
    const { text, errors, parser } = said(answer, { syntax: QWEN });
    expect({ text, count: parser.calls }).toEqual({ text: '', count: 0 });
    expect(errors).toEqual([{ type: 'tool-call-error', index: 0, message, text: answer }]);
  });

  test('that are wrong do not hide the next one, nor text', () => {
    const good = '<tool_call>\n{"name": "stop", "arguments": {}}\n</tool_call>';
    const { text, calls, errors } = said(`<tool_call>?</tool_call>\n${good}\nDone.`, { syntax: QWEN });
    expect({ text, errors: errors.length }).toEqual({ text: 'Done.', errors: 1 });
    expect(calls[1]).toEqual({ name: 'stop', json: '{}' });
  });

  test('may have begun in the prompt', () => {
    const begun = '<think>\n\n</think>\n\n<tool_call>\n{"name": "look", "arguments":';
    const { calls, text, parser } = said(' {"n": 1}}\n</tool_call>', { syntax: QWEN, begun, goesOn: true });
    expect({ text, calls, count: parser.calls }).toEqual({
      text: '',
      calls: [{ name: 'look', json: '{"n": 1}' }],
      count: 1,
    });
  });
});

const SYNTAXES = [QWEN, LLAMA, CODER, LFM, GEMMA, syntaxOf('mistralai-Mistral-Nemo-Instruct-2407')];
/** The marks of a syntax and, in the notation of tags, a call up to its value, and behind it. */
const marksOf = ({ thinking, tools }: (typeof SYNTAXES)[number]) => [
  ...(thinking ? [thinking.open, thinking.close] : []),
  ...(tools ? [tools.begin, tools.middle, tools.end, tools.next ?? '', tools.last] : []),
  ...(tools?.tags ? [`${tools.begin}look${tools.middle}${tools.tags.key}at${tools.tags.value}  a`] : []),
  ...(tools?.tags ? [tools.tags.close, `${tools.tags.close}${tools.end}`] : []),
];
const OTHERS = ['look', '{"at": "a"}', "at='a')", '<parameter=at>', '"', '{', '}', '\\', ' ', '\n', '    '];
/** A syntax, and a text of its marks, of those of others, and of letters. */
const syntaxAndText = fc.constantFrom(...SYNTAXES).chain((syntax) => {
  const mark = fc.constantFrom(...marksOf(syntax), ...OTHERS);
  const other = fc.constantFrom(...SYNTAXES.flatMap(marksOf));
  const part = fc.oneof({ weight: 4, arbitrary: mark }, other, fc.string({ maxLength: 5 }));
  const text = fc.array(part, { maxLength: 14 }).map((parts) => parts.join('').replaceAll('\0', 'x'));
  return fc.tuple(fc.constant(syntax), text);
});

/** A vocabulary in which the whole text is a token. */
const oneToken = (text: string) => ({ ...tokenizer, tokenBytes: () => new TextEncoder().encode(text) });

test('whatever a model writes: any split into tokens gives the same parts, and no text is lost', () => {
  fc.assert(
    fc.property(syntaxAndText, fc.boolean(), ([syntax, text], isSplit) => {
      const options = { syntax, tools: TOOLS, reasoning: isSplit ? 'split' : 'text' } as const;
      const { parser: first, ...whole } = read(tokenizer.encodePlain(text), options);
      const { parser: second, ...byByte } = read(bytes(text), options);
      expect(byByte).toEqual(whole);
      expect(second.calls).toBe(first.calls);
      const { parser: third, ...atOnce } = read(text === '' ? [] : [0], { ...options, goesOn: true }, oneToken(text));
      expect(atOnce).toEqual(byByte);
      expect(third.calls).toBe(first.calls);
      const plain = read(bytes(text), { ...options, tools: [], reasoning: 'text' });
      expect(plain.text).toBe(tokenizer.decode(bytes(text)));
    }),
    { seed: SEED, numRuns: 2500 },
  );
});

test.each([
  ['spaces', ' '],
  ['beginnings of tags', '<tool_'],
  ['calls without an end', '<tool_call>'],
  ['braces', '{"name": "look", "arguments": {'],
  ['quotes', '"'],
  ['open thinking', '<think>\n'],
])('takes linear time for a flood of %s', (_, piece) => {
  const cost = (length: number) => {
    const ids = bytes(`<tool_call>\n{"name": "look", "arguments": {"at": ${piece.repeat(length / piece.length)}`);
    const start = process.cpuUsage();
    for (const syntax of SYNTAXES) read(ids, { syntax, tools: TOOLS });
    const { user, system } = process.cpuUsage(start);
    return user + system;
  };
  cost(2_500);
  expect(cost(40_000)).toBeLessThan(16 * 8 * Math.max(cost(2_500), 10_000));
});

test('the parts of the token that stops an answer come once', () => {
  const texts = ['<think>', 'a</think>END'];
  const spelling = { ...tokenizer, tokenBytes: (id: number) => new TextEncoder().encode(texts[id]) };
  const syntax = { thinking: { open: '<think>', close: '</think>', ability: 'always' as const }, tools: null };
  const parser = createAnswerParser(spelling, { stop: ['END'], syntax });
  expect([parser.push(0), parser.push(1), parser.stopped]).toEqual(['', '', true]);
  expect(parser.parts).toEqual([{ type: 'reasoning', text: 'a' }]);
  expect([parser.flush(), parser.parts]).toEqual(['', []]);
});
