// Chat templates against the reference's renderings, and hostile templates.

import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ChatTemplateError } from '../../../src/errors';
import { createChatTemplate } from '../../../src/text/template/chat_template';
import { findChatTemplate } from '../../../src/text/template/find_template';
import { strftime } from '../../../src/text/template/jinja/strftime';
import type { ChatMessage } from '../../../src/text/template/message';
import { SEED } from '../arbitraries';
import { dataFile, files, hasData, type Json, projectFile, readJson } from '../fixtures';

const VECTORS = 'chat_templates/llama_cpp_vectors.json';
const NO_TOKENS = { bosToken: null, eosToken: null };
const HELLO: ChatMessage[] = [{ role: 'user', content: 'Hello' }];

interface Case {
  name: string;
  template: string;
  expected: string;
  bos_token: string;
  eos_token: string;
  supported_with_jinja: boolean;
  extra_conversation?: { user: string; assistant_tool_call: string; tool_response: string };
}

/** Templates accept any role. The tool cases use two roles outside the type. */
function conversation(one: Case, messages: readonly ChatMessage[]): ChatMessage[] {
  const extra = Object.entries(one.extra_conversation ?? {});
  return [...messages, ...extra.map(([role, content]) => ({ role, content }) as ChatMessage)];
}

const cases = hasData(VECTORS) ? (readJson(dataFile(VECTORS)) as { cases: Case[] } & Json).cases : [];

describe.skipIf(cases.length === 0)('templates of published models (skipped where the data is absent)', () => {
  const messages = hasData(VECTORS) ? (readJson(dataFile(VECTORS)).messages as ChatMessage[]) : [];
  test.each(cases.filter((one) => one.supported_with_jinja).map((one) => [one.name, one] as const))('%s', (_, one) => {
    const template = createChatTemplate(one.template, { bosToken: one.bos_token, eosToken: one.eos_token });
    expect(template.render({ messages: conversation(one, messages) }, { addGenerationPrompt: true })).toBe(
      one.expected,
    );
  });
});

test('a template sees the variables of transformers', () => {
  const source =
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}|{{ m['content'] | trim }}]{% endfor %}{{ eos_token }}" +
    "{% if tools is none %}no tools{% endif %}{{ {'a': [1, 'ü']} | tojson }}{% if add_generation_prompt %}>{% endif %}";
  const template = createChatTemplate(source, { bosToken: '<s>', eosToken: '</s>' });
  const text = template.render({ messages: [{ role: 'user', content: ' hi ' }] }, { addGenerationPrompt: true });
  expect(text).toBe('<s>[user|hi]</s>no tools{"a": [1, "ü"]}>');
});

test('the message of raise_exception is kept', () => {
  const template = createChatTemplate("{{ raise_exception('roles must alternate') }}", NO_TOKENS);
  expect(() => template.render({ messages: HELLO }, { addGenerationPrompt: true })).toThrow(
    new ChatTemplateError('roles must alternate'),
  );
});

test('dates are in English', () => {
  const template = createChatTemplate("{{ strftime_now('%d %b %Y %% %q') }}", NO_TOKENS);
  expect(template.render({ messages: HELLO }, { addGenerationPrompt: true })).toMatch(
    /^\d\d [A-Z][a-z]{2} \d{4} % %q$/,
  );
});

test('a date has no zero in front where the template wants none', () => {
  const date = new Date(2026, 6, 4, 9, 5);
  expect(strftime(date, '%-d %B %Y, %-I:%M, %-m, %d, %-q')).toBe('4 July 2026, 9:05, 7, 04, %-q');
  expect(strftime(new Date(2026, 9, 20), '%-d %-m')).toBe('20 10');
});

/** Two million characters in `ns.x`, from forty steps. */
const BIG = "{% set ns = namespace(x='ab') %}{% for i in range(20) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}";
const again = (expression: string) =>
  `{% set r = range(9999) %}{% for i in r %}{% set y = ${expression} %}{% endfor %}`;
const EXPENSIVE: [string, string][] = [
  ['every letter replaced by a text', "{{ messages[0].content.replace('y', messages[0].content) }}"],
  ['every letter replaced, by the filter', "{{ messages[0].content | replace('y', messages[0].content) }}"],
  ['nothing replaced by a text', "{{ messages[0].content.replace('', messages[0].content) }}"],
  ['a list joined with a text', '{{ range(9999) | join(messages[0].content) }}'],
  ['a text in a million parts', `${BIG}{{ ns.x.split('a') | length }}`],
  ['a text replaced again and again', BIG + again("ns.x.replace('a', 'b')")],
  ['a text reversed again and again', BIG + again('ns.x[::-1]')],
  ['a list reversed again and again', again('r[::-1]')],
  ['a text stripped again and again', BIG + again("ns.x.strip('ab')")],
  ['a list sorted again and again', again('r | sort')],
  ['a list made unique again and again', again('r | unique')],
  ['long JSON again and again', BIG + again('ns.x | tojson')],
  ['a date with many years', "{{ strftime_now(messages[0].content.replace('y', '%Y%B%A')) }}"],
  [
    'a tree of macros',
    '{% macro f(g, n) %}{% if n > 0 %}{{ g(g, n - 1) }}{{ g(g, n - 1) }}{% endif %}{% endmacro %}{{ f(f, 90) }}',
  ],
  ['a text formatted with a text again and again', `${BIG}{{ '{0}{0}{0}'.format(ns.x) }}`],
  ['a text formatted again and again', BIG + again('ns.x.format()')],
  ['a macro that gets itself', '{% macro f(g) %}{{ g(g) }}{{ g(g) }}{% endmacro %}{{ f(f) }}'],
  ['a sum of 31,000', `{{ ${'1+'.repeat(31_000)}1 }}`],
  ['not, not, not', `{{ ${'not '.repeat(15_000)}1 }}`],
  ['a chain of names', `{{ messages${'.a'.repeat(30_000)} }}`],
  ['a chain of calls', `{{ range${'()'.repeat(30_000)} }}`],
  ['nested choices', `{{ ${'1 if 0 else '.repeat(5_000)}2 }}`],
  ['one choice after another', `{% if 0 %}${'{% elif 0 %}'.repeat(5_000)}{% endif %}`],
  ['spaces in a tag', `{{${' '.repeat(60_000)}`],
  ['spaces before a tag', `${' '.repeat(60_000)}x{% if 1 %}{% endif %}`],
  ['line breaks', `${'\n'.repeat(60_000)}{%- if 1 %}`],
];

const nested = (depth: number) => `{% set a = ['xx'] %}${'{% set a = [a, a] %}'.repeat(depth)}`;
/** `l0` holds 2^n namespaces after its weight was known. */
const knotted = (n: number) => {
  const each = (make: (i: number) => string) => Array.from({ length: n }, (_, i) => make(i)).join('');
  return `${each((i) => `{% set n${i} = namespace() %}{% set l${i} = [n${i}, n${i}] %}`)}${each((i) => `{% set n${i}.x = l${i + 1} %}`)}`;
};
const grown = (text: string) =>
  `{% set ns = namespace(x='${text}') %}{% for i in range(20) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}`;
const GROWN = grown('ab');
/** Each becomes a text of hundreds of megabytes before the next is begun. */
const LISTS = `[${'range(99), '.repeat(20)}1]`;
/** Steps whose text would take hundreds of megabytes before its length is known. */
const LONG: [string, string][] = [
  ['a huge separator of JSON', `${GROWN}{{ ${LISTS} | tojson(separators=[ns.x, ns.x]) }}`],
  ['a large JSON indentation of a mapping', `${GROWN}{{ ${LISTS} | tojson(**{'indent': 3000000}) }}`],
  ['a large JSON indentation of many lists', `{{ ${LISTS} | tojson(indent=3000000) }}`],
  ['many lines indented far', `${grown('a\\\\n')}{{ ns.x | indent(width=100) }}`],
  ['many lines of a block indented far', `{% filter indent(30000) %}${'a\n'.repeat(999)}{% endfilter %}`],
  ['a long text between many items', `${GROWN}{{ range(100) | join(ns.x) }}`],
  ['a letter replaced by a long text', `${GROWN}{{ 'aaaaaaaaaaaaaaaaaaaaaaaa' | replace('a', ns.x) }}`],
  ['nothing replaced by a text', `${GROWN}{{ ns.x.replace('', 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy') }}`],
  ['a text split into too many pieces', `${GROWN}{{ ns.x.split('b') | length }}`],
  ['a long text of each number', `${GROWN}{{ range(2000, 2020) | map('replace', '20', ns.x) | list | length }}`],
  ['a text many times', "{{ 'aaaa' * 9000000 }}"],
  ['a text many times, the number first', `${GROWN}{{ 90 * ns.x }}`],
  ['a text split into too many words', `${grown('a ')}{{ ns.x.split() | length }}`],
];
const hostile: [string, string][] = [
  ['nested loops with a body', '{% for i in range(10000) %}{% for j in range(10000) %}x{% endfor %}{% endfor %}'],
  ['nested loops without a body', '{% for i in range(10000) %}{% for j in range(10000) %}{% endfor %}{% endfor %}'],
  ['filtered loops', '{% for i in range(9999) %}{% for j in range(9999) if false %}{% endfor %}{% endfor %}'],
  ['a huge range', '{{ range(1000000000) }}'],
  ['a range of no number', "{{ range('a') }}"],
  [
    'a text doubled',
    "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
  ],
  ['a list doubled', '{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}'],
  ['a list nested in itself, printed', `${nested(50)}{{ a }}`],
  ['a list nested in itself, as JSON', `${nested(50)}{{ a | tojson }}`],
  ['a namespace that holds itself', '{% set n = namespace() %}{% set n.n = n %}{{ n }}{{ n | tojson }}'],
  [
    'a mapping nested in itself',
    `{% set a = {'k': 1} %}${"{% set a = {'x': a, 'y': a} %}".repeat(50)}{{ a | tojson }}`,
  ],
  [
    'one big text worked on again and again',
    "{% set ns = namespace(x='ab') %}{% for i in range(20) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{% for i in range(9999) %}{% set y = ns.x | upper %}{% endfor %}",
  ],
  [
    'one big text searched again and again',
    "{% set ns = namespace(x='ab') %}{% for i in range(20) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{% for i in range(9999) %}{% set y = 'ac' in ns.x %}{% endfor %}",
  ],
  [
    'a big list searched again and again',
    "{% set r = range(9999) %}{% for i in r %}{% if 'q' in r %}{% endif %}{% endfor %}",
  ],
  ['a huge indentation', "{{ 'a\nb\nc' | indent(400000000) }}"],
  ['a huge JSON indentation', '{{ [[1],[2]] | tojson(indent=200000000) }}'],
  ...LONG,
  ['lists that namespaces put into one another later', `${knotted(60)}{{ l0 | tojson }}`],
  ['lists that namespaces put into one another later, printed', `${knotted(60)}{{ l0 }}`],
  ['a macro that calls itself', '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}'],
  ['deep brackets', `{{ ${'('.repeat(50_000)}1${')'.repeat(50_000)} }}`],
  ['deep blocks', `${'{% if true %}'.repeat(20_000)}${'{% endif %}'.repeat(20_000)}`],
  ['no end', '{% for m in messages %}'],
  ['nonsense', '{% %}{{ }} {# '],
  ['a format without a value', "{{ '{} {}'.format(1) }}"],
  ['a format with a width', "{{ '{:>999999999}'.format(1) }}"],
  ['a format with an attribute', "{{ '{0.value}'.format(1) }}"],
  ['a mapping of numbers and texts, sorted', "{{ {0: 1, 'a': 2} | dictsort }}"],
  ['an unknown filter', "{{ 'a' | exec }}"],
  ['a long way to nothing', `${'{{ [[[[[[1]]]]]] }}'.repeat(3_300)}{{ 1 | exec }}`],
  ['too much source', 'x'.repeat(64_001)],
  ['too much text', `${'x'.repeat(60_000)}{% for i in range(9) %}{{ messages[0].content }}{% endfor %}`],
  ...EXPENSIVE,
  ['the constructor of a function', "{{ ''.constructor.constructor('return 1')() }}"],
];

test.each(hostile)('ends in a typed error: %s', (_, source) => {
  const start = process.cpuUsage(); // CPU time, since other processes may share the machine
  const long: ChatMessage[] = [{ role: 'user', content: 'y'.repeat(500_000) }];
  expect(() => createChatTemplate(source, NO_TOKENS).render({ messages: long }, { addGenerationPrompt: true })).toThrow(
    ChatTemplateError,
  );
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1000).toBeLessThan(10_000);
});

test('a slow machine runs out of steps, not of time', () => {
  let ms = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (ms += 5)); // from look to look, a thousand steps
  const render = (...rounds: number[]) => {
    const begin = rounds.map((count, i) => `{% for x${i} in range(${count}) %}`).join('');
    const source = `${begin}{{ x0 }};${'{% endfor %}'.repeat(rounds.length)}`;
    return createChatTemplate(source, NO_TOKENS).render({ messages: HELLO }, { addGenerationPrompt: true });
  };
  expect(render(150, 100)).toMatch(/^0;.*149;$/);
  expect(() => render(99, 99, 99)).toThrow(/did not end within \d{6} steps/);
  vi.restoreAllMocks();
});

test('a template may look at all messages for each one, and at each part of what it is given', () => {
  const messages = Array.from({ length: 320 }, (_, i): ChatMessage => ({ role: 'user', content: `${i};` }));
  const parameters = { type: 'object', properties: Object.fromEntries(messages.map((_, i) => [`p${i}`, {}])) };
  const known = messages.slice(0, 160).map(({ content: name }) => ({ name, parameters }));
  const render = (source: string, request: object) =>
    createChatTemplate(source, NO_TOKENS).render({ messages: HELLO, ...request }, { addGenerationPrompt: true });
  const all =
    '{% for m in messages %}{% for n in messages %}{% if n == m %}{{ n.content }}{% endif %}{% endfor %}{% endfor %}';
  expect(render(all, { messages })).toBe(messages.map(({ content }) => content).join(''));
  const names =
    '{% for t in known %}{% for p in t.parameters.properties %}{% if p == "p319" %}{{ t.name }}{% endif %}{% endfor %}{% endfor %}';
  expect(render(names, { templateArguments: { known } })).toBe(known.map(({ name }) => name).join(''));
});

test.each(LONG)('is refused before it is made: %s', (_, source) => {
  const run = () => createChatTemplate(source, NO_TOKENS).render({ messages: HELLO }, { addGenerationPrompt: true });
  expect(run).toThrow(/; at most 32000000 are allowed\. Use another template or fewer messages\.$|Unknown node type/);
});

test.each([
  ['a filter', '{{ 1.5 | round }}', 'round'],
  ['a statement', '{% raw %}{% endraw %}', 'raw'],
  ['a test', '{{ 1 is divisible }}', 'divisible'],
  ['an argument', '{{ [1] | map(1) | list }}', 'map'],
  ['an operator', "{{ 'a' - 3 }}", '-'],
])('features missing in the library are named: %s', (_, source, name) => {
  const run = () => createChatTemplate(source, NO_TOKENS).render({ messages: HELLO }, { addGenerationPrompt: true });
  expect(run).toThrow(ChatTemplateError);
  expect(run).toThrow(name);
});

const features = readJson(projectFile('test/fixtures/tokenizer/templates.json')) as {
  messages: ChatMessage[];
  cases: [string, string][];
} & Json;

test.each(features.cases)('renders as Jinja in Python does: %s', (source, expected) => {
  const template = createChatTemplate(source, NO_TOKENS);
  expect(template.render({ messages: features.messages }, { addGenerationPrompt: true })).toBe(expected);
});

test('a long ordinary conversation renders', () => {
  const source =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}";
  const template = createChatTemplate(source, NO_TOKENS);
  const turns = (count: number, length: number) =>
    Array.from({ length: count }, (): ChatMessage => ({ role: 'user', content: 'z'.repeat(length) }));
  expect(template.render({ messages: turns(2000, 500) }, { addGenerationPrompt: true }).length).toBe(2000 * 528);
  expect(template.render({ messages: turns(3, 1_000_000) }, { addGenerationPrompt: true }).length).toBe(3 * 1_000_028);
});

test('findChatTemplate reads a string, a list, a mapping and GGUF metadata', () => {
  const gguf = new Map([['tokenizer.chat_template', 'G']]);
  const find = (chat_template: unknown, more = {}) =>
    findChatTemplate(files({ tokenizerConfig: { chat_template }, ...more }));
  expect(find('T', { gguf })).toBe('T');
  expect(
    find([
      { name: 'rag', template: 'R' },
      { name: 'default', template: 'D' },
    ]),
  ).toBe('D');
  expect(find({ default: 'M' })).toBe('M');
  expect(find(undefined, { gguf })).toBe('G');
  expect(find(7)).toBe(null);
  expect(findChatTemplate(files({}))).toBe(null);
});

/** Templates whose edges are spaces, line breaks and blocks that strip them. */
const SHOWN = '{{ tools | tojson if tools }}';
const EDGES = [
  `{% for m in messages %}{{ m.content }}${SHOWN}{% endfor %}`,
  `\n{{ messages[0].content }}\n${SHOWN}\n`,
  `  {%- if true %}${SHOWN}x{% endif -%}  \n\n`,
  `  {% set a = 1 %}\n{{ a }}${SHOWN}\n  `,
  `{# a #}\n\n  x${SHOWN}  {# b #}\n`,
  `{%- macro f(x) -%} <{{ x }}> {%- endmacro -%}\n{{- f('y') }}${SHOWN}\n\n`,
];
const TOOLS = [{ name: 'weather', description: 'The weather.', parameters: { type: 'object', properties: {} } }];

test.each(EDGES)('the template named tool_use renders conversations with tools, the default others: %j', (source) => {
  const marked = '{%- for m in messages %}{{ m.role }}{% endfor %}{{ tools[0].function.name if tools }}';
  const render = (template: string | null, tools: typeof TOOLS) =>
    createChatTemplate(template!, NO_TOKENS).render({ messages: HELLO, tools }, { addGenerationPrompt: true });
  const list = (plain: string, withTools: string) => [
    { name: 'default', template: plain },
    { name: 'tool_use', template: withTools },
  ];
  for (const [plain, withTools] of [
    [source, marked],
    [marked, source],
  ]) {
    const gguf = new Map([
      ['tokenizer.chat_template', plain],
      ['tokenizer.chat_template.tool_use', withTools],
    ]);
    for (const found of [
      findChatTemplate(
        files({
          tokenizerConfig: { chat_template: list(plain, withTools) },
          gguf: new Map(gguf).set('tokenizer.chat_template', 'G'),
        }),
      ),
      findChatTemplate(files({ tokenizerConfig: { chat_template: { default: plain, tool_use: withTools } } })),
      findChatTemplate(files({ gguf })),
    ]) {
      expect(render(found, [])).toBe(render(plain, []));
      expect(render(found, TOOLS)).toBe(render(withTools, TOOLS));
    }
  }
});

test('calls are read in the syntax of the template named tool_use', () => {
  const plain = '{% for m in messages %}<|{{ m.role }}|>{{ m.content }}</s>{% endfor %}';
  const withTools = `{{ tools | tojson }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls %}<tool_call>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}</tool_call>{% endfor %}</s>{% endfor %}`;
  const template = (chat_template: unknown) =>
    createChatTemplate(findChatTemplate(files({ tokenizerConfig: { chat_template } }))!, NO_TOKENS);
  expect(template({ default: plain }).syntax.tools).toBe(null);
  const { syntax } = template({ default: plain, tool_use: withTools });
  expect(syntax).toEqual(template(withTools).syntax);
  expect(syntax.tools?.begin).toBe('<tool_call>{"name": "');
});

test('any source gives a text or a ChatTemplateError', () => {
  const pieces = [
    ...[
      '{% for m in messages %}',
      '{% endfor %}',
      '{% if m %}',
      '{% else %}',
      '{% endif %}',
      '{{ m.content }}',
      '{{ m',
    ],
    ...[
      '{% set a = [a, a] %}',
      '{{ a | tojson }}',
      '{{ messages[0:2:-1] }}',
      '{% macro f(x) %}',
      '{% endmacro %}',
      '{{ f(f) }}',
    ],
    ...[
      "{{ 'a' ~ 1 }}",
      '{{ range(9) | sort }}',
      '{% break %}',
      '{#',
      '#}',
      '-%}',
      '{{ namespace(a=1).a }}',
      ' text\n',
    ],
  ];
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 3 })), { maxLength: 8 }),
      (parts) => {
        try {
          const text = createChatTemplate(parts.join(''), NO_TOKENS).render(
            { messages: HELLO },
            { addGenerationPrompt: true },
          );
          expect(typeof text).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(ChatTemplateError);
        }
      },
    ),
    { seed: SEED, numRuns: 1000 },
  );
});
