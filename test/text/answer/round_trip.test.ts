// Answers with thinking and calls, as chat templates of published models show them, read back: what went into the
// template comes out of the parser.

import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { createAnswerParser } from '../../../src/text/answer/answer_parser';
import type { AnswerPart } from '../../../src/text/answer/answer_part';
import { readCalls } from '../../../src/text/answer/call_parser';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { type ChatTemplate, createChatTemplate } from '../../../src/text/template/chat_template';
import { loadProvenance } from '../../../src/text/template/late_provenance';
import type { ChatMessage, ChatRequest, Tool } from '../../../src/text/template/message';
import { dataFile, files, hasData, type Json, projectFile, readJson } from '../fixtures';
import { byteLevelJson } from '../tiny_vocabulary';

beforeAll(loadProvenance);

const FOLDER = 'chat_templates/jinja';
const { templates } = readJson(projectFile('test/fixtures/tokenizer/chat_templates.json')) as {
  templates: Record<string, string>;
} & Json;
const published = hasData(FOLDER)
  ? readdirSync(dataFile(FOLDER)).map(
      (file) => [file.replace('.jinja', ''), readFileSync(dataFile(`${FOLDER}/${file}`), 'utf8')] as const,
    )
  : [];

const parameters = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'A city' },
    days: { type: 'integer', description: 'Number of days' },
    exact: { type: 'boolean', description: 'Exact or not' },
    items: { type: 'array', description: 'Items', items: { type: 'string' } },
    more: { type: 'object', description: 'More', properties: { tags: { type: 'array', items: { type: 'string' } } } },
  },
  required: ['city'],
};
const TOOLS: Tool[] = [
  { name: 'get_weather', description: 'Tells the weather', parameters },
  { name: 'stop', description: 'Stops', parameters: { type: 'object', properties: {} } },
];
const FIRST = { city: 'Zürich, the "big" one', days: 3, exact: true, more: { tags: ['a', 'b {c}'] } };
const SECOND = { city: '7', items: ['  <b> & 7'] };
/** Lines, tags and spaces at the edges of a text, which stay where the notation can show them. */
const THIRD = { city: '    if (a < b) {\n\treturn "</p>";\n    }\n' };
const THOUGHT = 'I need the weather.\nThen I answer.';
const TEXT = 'Let me look.';
const user = (content: string): ChatMessage => ({ role: 'user', content });
const call = (id: string, args: object) => ({ id, name: 'get_weather', arguments: JSON.stringify(args) });

/** A vocabulary in which the template's own tags are control tokens without bytes. */
function tokenizerOf(source: string) {
  const json = byteLevelJson();
  const tags = new Set(source.match(/<[|｜/]?[\w:｜▁|]+[|｜]?>|\[\/?[A-Z_]+\]/g));
  const added = [...tags, '<|"|>'].filter((tag) => !/^\[[A-Z]?\]$/.test(tag));
  (json.added_tokens as Json[]).push(
    ...added.map((content, i) => ({ id: 5000 + i, content, special: true, normalized: false })),
  );
  return createTokenizer(files({ tokenizerJson: json, tokenizerConfig: { chat_template: source } }));
}

function read(source: string, template: ChatTemplate, begun: string, answer: string) {
  const tokenizer = tokenizerOf(source);
  const options = { syntax: template.syntax, tools: TOOLS, readCalls, begun, goesOn: true };
  const results = [tokenizer.encode(answer, { addSpecialTokens: false }), letters(answer, tokenizer)].map((ids) => {
    const parser = createAnswerParser(tokenizer, options);
    const parts: AnswerPart[] = [];
    let text = '';
    for (const id of ids) {
      text += parser.push(id);
      parts.push(...parser.parts);
    }
    text += parser.flush();
    parts.push(...parser.parts);
    return { text, reasoning: reasoningOf(parts), calls: callsOf(parts), count: parser.calls };
  });
  expect(results[1]).toEqual(results[0]);
  return results[0];
}

type Tokenizer = ReturnType<typeof createTokenizer>;

/** Every byte its own token; a control token stays one. */
function letters(text: string, tokenizer: Tokenizer): number[] {
  return Array.from(tokenizer.encode(text, { addSpecialTokens: false })).flatMap((id) =>
    tokenizer.tokenBytes(id).length === 0 ? [id] : Array.from(tokenizer.tokenBytes(id), (byte) => BYTES.indexOf(byte)),
  );
}
const plainTokenizer = createTokenizer(files({ tokenizerJson: byteLevelJson() }));
const BYTES = Array.from({ length: 256 }, (_, id) => plainTokenizer.tokenBytes(id)[0]);

const reasoningOf = (parts: readonly AnswerPart[]) =>
  parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('');

function callsOf(parts: readonly AnswerPart[]) {
  const calls: { name?: string; arguments: string; error?: string }[] = [];
  for (const part of parts) {
    if (part.type === 'reasoning') continue;
    calls[part.index] ??= { name: undefined, arguments: '' };
    const one = calls[part.index];
    if (part.type === 'tool-call-error') one.error = part.message;
    else {
      one.name ??= part.name;
      one.arguments += part.arguments;
    }
  }
  return calls.map(({ arguments: json, ...rest }) => ({ ...rest, arguments: rest.error ? json : JSON.parse(json) }));
}

/** The answer of a conversation's last message, and the beginning of it that the prompt holds. */
function answerIn(template: ChatTemplate, source: string, request: ChatRequest) {
  const asked = { ...request, messages: request.messages.slice(0, -1) };
  const prompt = template.render(asked, { addGenerationPrompt: true });
  const { begun } = template.encode(asked, tokenizerOf(source));
  const whole = template.render(request, { addGenerationPrompt: false });
  const bare = prompt.slice(0, prompt.length - begun.length);
  if (whole.startsWith(prompt)) return { begun, answer: whole.slice(prompt.length) };
  let at = 0; // the turn's own beginning may differ in its last tag
  while (bare[at] === whole[at]) at++;
  while (at > 0 && !/[\s>\]]/.test(whole[at - 1])) at--;
  return { begun: '', answer: whole.slice(at) };
}

/** Published templates that cannot be read back, and why. */
const NOT_READ: Record<string, string> = {
  'Apriel-1.6-15b-Thinker-fixed': 'opens thinking with the tag of a turn, which its prompt ends with',
  'fireworks-ai-llama-3-firefunction-v2': 'wants variables of its own',
  'GigaChat3-10B-A1.8B': 'writes calls as messages of another role',
  'Kimi-K3': 'writes the type of each argument into its tag',
  'deepseek-ai-DeepSeek-V3.2': 'writes the type of each argument into its tag',
  'deepseek-ai-DeepSeek-V4': 'writes the type of each argument into its tag',
  'deepseek-ai-DeepSeek-V4-Flash-0731': 'writes the type of each argument into its tag',
  'tencent-Hy3': 'writes thinking with a tag that its prompt does not open',
  'NVIDIA-Nemotron-Nano-v2': 'opens thinking before answers that have none',
};
const cases = [...Object.entries(templates), ...published.filter(([name]) => !(name in { ...templates, ...NOT_READ }))];

describe.each(cases)('%s', (_, source) => {
  const template = createChatTemplate(source, { bosToken: '<s>', eosToken: '</s>' });
  const { thinking, tools } = template.syntax;
  const request = (...messages: ChatMessage[]): ChatRequest => ({
    messages,
    tools: tools ? TOOLS : undefined,
    thinking: thinking?.ability === 'optional' ? 'on' : 'auto',
  });
  const assistant = (more: Partial<ChatMessage>): ChatMessage => ({ role: 'assistant', content: '', ...more });

  test.runIf(tools)('a call, its name and its arguments', () => {
    const message = assistant({ toolCalls: [call('call_1', FIRST)] });
    const { begun, answer } = answerIn(template, source, request(user('Hi'), message));
    const { calls, count } = read(source, template, begun, answer);
    expect({ calls, count }).toEqual({ calls: [{ name: 'get_weather', arguments: FIRST }], count: 1 });
  });

  test.runIf(tools?.next)('three calls and a call without arguments, and their results', () => {
    const stop = { id: 'call_4', name: 'stop', arguments: '{}' };
    const toolCalls = [call('call_1', FIRST), call('call_2', SECOND), call('call_3', THIRD), stop];
    const messages = [user('Hi'), assistant({ toolCalls })];
    const { begun, answer } = answerIn(template, source, request(...messages));
    const { calls } = read(source, template, begun, answer);
    expect(calls).toEqual([
      { name: 'get_weather', arguments: FIRST },
      { name: 'get_weather', arguments: SECOND },
      { name: 'get_weather', arguments: THIRD },
      { name: 'stop', arguments: {} },
    ]);
    const results = toolCalls.map(({ id }, i): ChatMessage => ({ role: 'tool', content: `r${i}`, toolCallId: id }));
    const prompt = template.render(request(...messages, ...results), { addGenerationPrompt: true });
    for (const { content } of results) expect(prompt).toContain(content);
  });

  test.runIf(thinking)('thinking, and a text behind it', () => {
    const message = assistant({ reasoning: THOUGHT, content: TEXT });
    const { begun, answer } = answerIn(template, source, request(user('Hi'), message));
    const { reasoning, text, calls } = read(source, template, begun, answer);
    if (answer.includes('Then I')) expect(reasoning).toBe(THOUGHT);
    expect(text).toContain(TEXT);
    expect(calls).toEqual([]);
  });

  test('an answer of text alone', () => {
    const { begun, answer } = answerIn(template, source, {
      ...request(user('Hi'), assistant({ content: TEXT })),
      thinking: 'auto',
    });
    const { text, calls } = read(source, template, begun, answer);
    expect(text).toContain(TEXT);
    expect(calls).toEqual([]);
  });
});
