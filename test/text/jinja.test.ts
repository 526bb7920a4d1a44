// Our Jinja against Jinja: what tools/make_fixtures/jinja.py got from the reference for expressions and blocks of every kind.

import { describe, expect, test } from 'vitest';
import { ChatTemplateError } from '../../src/errors';
import { type ChatMessage, createChatTemplate } from '../../src/text/chat_template';
import { projectFile, readJson } from './fixtures';

interface Case {
  template: string;
  /** Null where Jinja refuses the template. */
  expected: string | null;
}

const fixture = readJson(projectFile('test/fixtures/jinja/cases.json'));
const messages = fixture.messages as ChatMessage[];
const cases = fixture.cases as Case[];

/** Where Jinja gives up and we go on: what is undefined has undefined members, and a number joins a text. */
const LENIENT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '|{{ missing.attribute }}|': '||',
    "|{{ 1 + 'a' }}|": '|1a|',
    '{% for m in messages %}{{ loop.previtem.role }}>{{ m.role }}>{{ loop.nextitem.role }};{% endfor %}':
      '>developer>user;developer>user>assistant;user>assistant>;',
  }),
);

const render = (template: string) =>
  createChatTemplate(template, { bosToken: '<s>', eosToken: '</s>' }).render(messages, { addGenerationPrompt: true });

describe('templates that Jinja renders', () => {
  test.each(cases.filter((one) => one.expected !== null))('$template', ({ template, expected }) => {
    expect(render(template)).toBe(expected);
  });
});

describe('templates that Jinja refuses', () => {
  test.each(cases.filter((one) => one.expected === null))('$template', ({ template }) => {
    const lenient = LENIENT.get(template);
    if (lenient === undefined) expect(() => render(template)).toThrow(ChatTemplateError);
    else expect(render(template)).toBe(lenient);
  });
});

test('a refusal says what was met and what was needed', () => {
  expect(() => render('{{ (1 }}')).toThrow('it has "}}" where ) is needed');
  expect(() => render('a{% if true }}')).toThrow('a tag with no end at character 14');
  expect(() => render("{{ 'a' | nofilter }}")).toThrow('there is no filter "nofilter"');
  expect(() => render('{{ messages.pop() }}')).toThrow('it calls a value that is no function (undefined)');
});

test('what a namespace is given later counts when it is printed', () => {
  const spaces = Array.from({ length: 40 }, (_, i) => `{% set n${i} = namespace() %}`).join('');
  const lists = Array.from({ length: 39 }, (_, i) => `{% set l${i} = [n${i + 1}, n${i + 1}] %}`).join('');
  const links = Array.from({ length: 39 }, (_, i) => `{% set n${i}.x = l${i} %}`).join('');
  expect(() => render(`${spaces}${lists}${links}{{ n0 }}`)).toThrow(ChatTemplateError);
});

const AMPLIFIERS = [
  "{% set ns = namespace(x='aaaaaaaaaa') %}{% for i in range(20) %}{% set ns.x = ns.x | replace('a', ns.x) %}{% endfor %}",
  "{% set ns = namespace(x='aaaaaaaaaa') %}{% for i in range(20) %}{% set ns.x = ns.x | join(ns.x) %}{% endfor %}",
  "{{ 'abc' * 1000000000 }}",
  "{{ 'a\nb' | indent('x' * 3000000) }}",
  '{% for i in range(60) %}{% set x %}{{ messages }}{{ x }}{% endset %}{% endfor %}{{ range(10 ** 300) }}',
];

test.each(AMPLIFIERS)('what makes much of little ends in a typed error: %s', (template) => {
  const start = process.cpuUsage();
  expect(() => render(template)).toThrow(ChatTemplateError);
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1000).toBeLessThan(1000);
});
