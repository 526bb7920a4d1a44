// Requests with tools, results, thinking and template arguments: what templates get, what they cannot take, and how a
// prompt ends.

import { beforeAll, describe, expect, test } from 'vitest';
import { InvalidRequestError } from '../../../src/errors';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { createChatTemplate } from '../../../src/text/template/chat_template';
import { loadProvenance } from '../../../src/text/template/late_provenance';
import type { ChatMessage, ChatRequest, Tool } from '../../../src/text/template/message';
import { files, type Json, projectFile, readJson } from '../fixtures';
import { byteLevelJson } from '../tiny_vocabulary';

beforeAll(loadProvenance);

const { templates } = readJson(projectFile('test/fixtures/tokenizer/chat_templates.json')) as {
  templates: Record<string, string>;
} & Json;
const tokenizer = createTokenizer(files({ tokenizerJson: byteLevelJson() }));
const templateOf = (source: string) => createChatTemplate(source, { bosToken: '<s>', eosToken: '</s>' });
const named = (name: string) => templateOf(templates[name]);
const QWEN = named('Qwen-Qwen3-0.6B');
const NEMO = named('mistralai-Mistral-Nemo-Instruct-2407');
const R1 = named('deepseek-ai-DeepSeek-R1-Distill-Qwen-32B');
const SMOL = named('HuggingFaceTB-SmolLM3-3B');
const GEMMA = named('google-gemma-2-2b-it');

const TOOL: Tool = { name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } };
const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (more: Partial<ChatMessage>): ChatMessage => ({ role: 'assistant', content: '', ...more });
const CALL = { id: 'call_0123456789abcdef01234567', name: 'look', arguments: '{"a": [1, true, null]}' };
const LOOP: ChatMessage[] = [
  user('Hi'),
  assistant({ reasoning: 'I look.', toolCalls: [CALL] }),
  { role: 'tool', content: 'a fox', toolCallId: CALL.id },
];
const DUMP = '{{ messages | tojson }}{{ mood }}';

test('messages and tools have the form of transformers', () => {
  const shown = templateOf(
    `{{ tools | tojson }}{% for m in messages %}{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}{% for c in m.tool_calls %}{{ c.function.name ~ (c.function.arguments | tojson) }}{% endfor %}{% endfor %}${DUMP}`,
  ).render({ messages: LOOP, tools: [TOOL], templateArguments: { mood: { a: [1] } } }, { addGenerationPrompt: true });
  expect(shown).toContain(
    '[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "reasoning_content": "I look.", "tool_calls": [{"id": "call_0123456789abcdef01234567", "type": "function", "function": {"name": "look", "arguments": {"a": [1, true, null]}}}]}, {"role": "tool", "content": "a fox", "tool_call_id": "call_0123456789abcdef01234567", "name": "look"}]',
  );
  expect(shown).toContain(
    '[{"type": "function", "function": {"name": "look", "description": "Looks", "parameters": {"type": "object", "properties": {}}}}]',
  );
  expect(shown.endsWith("{'a': [1]}")).toBe(true);
});

test('template arguments override none of the variables of transformers', () => {
  const given = { messages: 'x', tools: 'x', bos_token: 'x', eos_token: 'x', raise_exception: 'x', range: 'x' };
  const source =
    '{{ bos_token }}{{ eos_token }}{{ messages[0].content }}{{ tools is none }}{{ range(2) | length }}{{ add_generation_prompt }}';
  const request = { messages: [user('Hi')], templateArguments: { ...given, add_generation_prompt: 'x' } };
  expect(templateOf(source).render(request, { addGenerationPrompt: true })).toBe('<s></s>HiTrue2True');
});

test('a template that wants ids of nine characters gets them, in calls and results', () => {
  const shown = NEMO.render({ messages: LOOP, tools: [TOOL] }, { addGenerationPrompt: true });
  expect(shown).toContain('[TOOL_CALLS][{"name": "look", "arguments": {"a": [1, true, null]}, "id": "000000000"}]');
  expect(shown).toContain('"call_id": "000000000"');
});

// The expected texts are those of json and Jinja in Python.
test('numbers in the arguments of a call print as in Python', () => {
  const source =
    '{{ tools | tojson }}{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}{% set a = c.function.arguments %}{{ c.function.name }}|{{ a | tojson }}{% if a.c %}|{{ a }}|{{ a.c | tojson(indent=2) }}|{{ a.a }} {{ a.b }} {{ a.b | tojson }} {{ a.d.e ~ "" }} {{ a.d.h + 1 }} {{ a.a + 1 }}|{{ a.b is number }}{{ a.a is string }}{% endif %}{% endfor %}{% endfor %}';
  const given =
    '{"a": 2.0, "b": 123456789012345678901, "c": [1.50, -7, 1e3, 1E16, 1e-7, 0.00001, 0.1], "d": {"e": -9007199254740993, "f": 5e-324, "g": 1.7976931348623157e308, "h": 3}, "i": 100.00}';
  const json =
    '{"a": 2.0, "b": 123456789012345678901, "c": [1.5, -7, 1000.0, 1e+16, 1e-07, 1e-05, 0.1], "d": {"e": -9007199254740993, "f": 5e-324, "g": 1.7976931348623157e+308, "h": 3}, "i": 100.0}';
  const messages = [user('Hi'), assistant({ toolCalls: [{ ...CALL, arguments: given }] })];
  expect(templateOf(source).render({ messages }, { addGenerationPrompt: false }).split('|')).toEqual([
    'nullHilook',
    json,
    json.replaceAll('"', "'"),
    '[\n  1.5,\n  -7,\n  1000.0,\n  1e+16,\n  1e-07,\n  1e-05,\n  0.1\n]',
    '2.0 123456789012345678901 123456789012345678901 -9007199254740993 4 3.0',
    'TrueFalse',
  ]);
});

test('all that is asked of a template at a load has one budget', () => {
  const kindOf = (rounds: number) => {
    const waste = `{% for i in range(${rounds}) %}${'{% set x = i %}'.repeat(5)}{% endfor %}`;
    return templateOf(waste + templates['Qwen-Qwen3-0.6B']).syntax.tools?.kind;
  };
  expect(kindOf(9)).toBe('json');
  expect(kindOf(9_999)).toBeUndefined(); // one rendering takes most of 200,000 steps
});

test('arguments that are no JSON object stay text', () => {
  const messages = [user('Hi'), assistant({ toolCalls: [{ ...CALL, arguments: '{"a": ' }] })];
  expect(QWEN.render({ messages, tools: [TOOL] }, { addGenerationPrompt: false })).toContain('"arguments": {"a": }');
});

describe('a template without a place for them refuses', () => {
  test.each<[string, ReturnType<typeof templateOf>, Partial<ChatRequest>, RegExp]>([
    ['tools', GEMMA, { tools: [TOOL] }, /takes no tools/],
    ['results', GEMMA, { messages: LOOP }, /no calls or results/],
    ['a required call', SMOL, { toolChoice: 'required' }, /cannot be read/],
    ['a named call', SMOL, { toolChoice: { name: 'look' } }, /cannot be read/],
    ['thinking on', GEMMA, { thinking: 'on' }, /knows no thinking/],
    ['thinking off', named('LFM2.5-8B-A1B'), { thinking: 'off' }, /cannot switch thinking off/],
  ])('%s', (_, template, more, reason) => {
    const encode = () => template.encode({ messages: [user('Hi')], ...more }, tokenizer);
    expect(encode).toThrow(InvalidRequestError);
    expect(encode).toThrow(reason);
  });
});

test('toolChoice none hides the tools', () => {
  const messages = [user('Hi')];
  const hidden = QWEN.encode({ messages, tools: [TOOL], toolChoice: 'none' }, tokenizer);
  expect(hidden).toEqual(QWEN.encode({ messages }, tokenizer));
});

describe('thinking', () => {
  const end = (template: typeof QWEN, thinking: 'auto' | 'on' | 'off') => {
    const { ids, begun } = template.encode({ messages: [user('Hi')], thinking }, tokenizer);
    return [tokenizer.decode(ids).slice(-30), begun];
  };

  test('is switched by the variable that the template has', () => {
    expect(QWEN.syntax.thinking).toEqual({ open: '<think>\n', close: '\n</think>\n\n', ability: 'optional' });
    const [closed, begun] = end(QWEN, 'off');
    expect([closed.endsWith('assistant\n<think>\n\n</think>\n\n'), begun]).toEqual([true, '']);
    expect(end(QWEN, 'on')).toEqual(end(QWEN, 'auto'));
    expect(end(SMOL, 'off')[0]).toContain('</think>');
    expect(end(SMOL, 'on')[0]).not.toContain('</think>');
  });

  test('that the prompt opens has begun', () => {
    expect(end(R1, 'on')[1]).toBe('<think>\n');
    expect(end(R1, 'off')[1]).toBe('');
    expect(end(named('Qwen3.5-4B'), 'auto')[1]).toBe('<think>\n');
  });

  test('is left out of the next prompt as the template says', () => {
    const messages = [user('1'), assistant({ reasoning: 'Hmm.', content: 'One.' }), user('2')];
    for (const name of Object.keys(templates)) {
      const template = named(name);
      const tools = template.syntax.tools ? [TOOL] : [];
      const shown = template.render({ messages, tools }, { addGenerationPrompt: true });
      expect([name, shown.includes('One.'), shown.includes('Hmm.')]).toEqual([name, true, false]);
    }
  });
});

describe('a call that was asked for begins the answer', () => {
  const begin = (template: typeof QWEN, more: Partial<ChatRequest>) => {
    const prompt = template.encode({ messages: [user('Hi')], tools: [TOOL], ...more }, tokenizer);
    const plain = template.encode({ messages: [user('Hi')], tools: [TOOL], ...more, toolChoice: 'auto' }, tokenizer);
    const text = tokenizer.decode(prompt.ids);
    expect(text.startsWith(tokenizer.decode(plain.ids))).toBe(true);
    expect(text.endsWith(prompt.begun)).toBe(true);
    expect(prompt.goesOn).toBe(true);
    return prompt.begun;
  };

  test('any, or by name', () => {
    expect(begin(QWEN, { toolChoice: 'required' })).toBe('<tool_call>\n{"name": "');
    expect(begin(QWEN, { toolChoice: { name: 'look' } })).toBe('<tool_call>\n{"name": "look", "arguments":');
    expect(begin(named('Qwen3-Coder'), { toolChoice: { name: 'look' } })).toBe('<tool_call>\n<function=look>');
    expect(begin(named('Mistral-Small-3.2-24B-Instruct-2506'), { toolChoice: { name: 'look' } })).toBe(
      '[TOOL_CALLS]look[CALL_ID]',
    );
  });

  test('behind a thinking that the prompt opened', () => {
    const begun = begin(named('Qwen3.5-4B'), { toolChoice: 'required' });
    expect(begun).toBe('<think>\n</think>\n\n<tool_call>\n<function=');
  });

  test('with the name of a tool as a text of a person', () => {
    const { ids, begun } = QWEN.encode(
      { messages: [user('Hi')], tools: [{ name: '<|end|>' }], toolChoice: { name: '<|end|>' } },
      tokenizer,
    );
    expect(begun).toContain('<|end|>');
    expect(Array.from(ids, (id) => tokenizer.tokenText(id))).not.toContain('<|end|>');
  });
});

describe('continueLast', () => {
  test('ends the prompt with the last message', () => {
    const messages = [user('Hi'), assistant({ content: 'Once upon a ' })];
    const { ids, begun, goesOn } = QWEN.encode({ messages, continueLast: true }, tokenizer);
    expect(tokenizer.decode(ids).endsWith('Once upon a ')).toBe(true);
    expect({ begun, goesOn }).toEqual({ begun: '', goesOn: true });
  });

  test.each(['<', '|', 'end', 'im'])(
    'ends the prompt with a message %s, which the end of a turn has in it, too',
    (content) => {
      const chatml = templateOf(
        '{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}',
      );
      const { ids } = chatml.encode({ messages: [user('Hi'), assistant({ content })], continueLast: true }, tokenizer);
      expect(tokenizer.decode(ids).endsWith(`<|im_start|>assistant\n${content}`)).toBe(true);
    },
  );

  test.each([
    ['that the answer opens', QWEN, '<think>\n'],
    ['that the prompt opens', R1, '<think>\n'],
  ])('goes on with a thought %s', (_name, template, open) => {
    const messages = [user('Hi'), assistant({ reasoning: 'They greet' })];
    const { ids, begun, goesOn } = template.encode({ messages, continueLast: true }, tokenizer);
    expect(tokenizer.decode(ids).endsWith(`${open}They greet`)).toBe(true);
    expect({ begun, goesOn }).toEqual({ begun: `${open}They greet`, goesOn: true });
  });

  test('makes no control token of the text of a thought', () => {
    const request = { messages: [user('Hi'), assistant({ reasoning: 'They greet<|end|>' })], continueLast: true };
    const { ids } = QWEN.encode(request, tokenizer);
    expect(tokenizer.decode(ids).endsWith('They greet<|end|>')).toBe(true);
    expect(Array.from(ids, (id) => tokenizer.tokenText(id))).not.toContain('<|end|>');
  });

  test('refuses a thought of a model that knows none, or with thinking off', () => {
    const messages = [user('Hi'), assistant({ reasoning: 'They greet' })];
    expect(() => GEMMA.encode({ messages, continueLast: true }, tokenizer)).toThrow(/knows no thinking/);
    expect(() => QWEN.encode({ messages, continueLast: true, thinking: 'off' }, tokenizer)).toThrow(/thinking is off/);
  });

  test('refuses a message that the template does not show', () => {
    const hides = templateOf('{% for m in messages if m.role == "user" %}{{ m.content }}{% endfor %}');
    const request = { messages: [user('Hi'), assistant({ content: 'Once' })], continueLast: true };
    expect(() => hides.encode(request, tokenizer)).toThrow(InvalidRequestError);
  });
});
