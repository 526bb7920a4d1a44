// Answers whose calls are constrained, in the syntax of published templates: free until a call begins, and then every
// draw is a call of a tool that the parser reads, with arguments that ajv accepts. Documents behind thinking.
// VIVACE_ALL_PROMPTS=1 draws more, from more templates where the data is present.

import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020';
import { describe, expect, test } from 'vitest';
import { mayEnd, type Place, START, stepByte, walk } from '../../../src/cpu/grammar';
import { controlBytes } from '../../../src/grammar/answer/control_bytes';
import { MOST_CONTROLS } from '../../../src/grammar/answer/control_range';
import { compileAnswer } from '../../../src/grammar/constraint';
import { answerForm } from '../../../src/text/answer/answer_form';
import { createAnswerParser } from '../../../src/text/answer/answer_parser';
import { readCalls } from '../../../src/text/answer/call_parser';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { createChatTemplate } from '../../../src/text/template/chat_template';
import type { Tool } from '../../../src/text/template/message';
import { randomSource } from '../../random';
import { dataFile, files, hasData, type Json, projectFile, readJson } from '../../text/fixtures';
import { byteLevelJson } from '../../text/tiny_vocabulary';
import { documentSource } from '../documents';

const { templates } = readJson(projectFile('test/fixtures/tokenizer/chat_templates.json')) as {
  templates: Record<string, string>;
} & Json;
const isLong = Boolean(process.env.VIVACE_ALL_PROMPTS);
const DRAWS = isLong ? 200 : 12;
const FOLDER = 'chat_templates/jinja';
const published = isLong && hasData(FOLDER) ? readdirSync(dataFile(FOLDER)) : [];
const sources = [
  ...Object.entries(templates),
  ...published.map((file) => [file, readFileSync(dataFile(`${FOLDER}/${file}`), 'utf8')] as const),
];

const TOOLS: Tool[] = [
  {
    name: 'get_weather',
    description: 'Tells the weather',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer', minimum: 1, maximum: 14 },
        unit: { type: 'string', enum: ['celsius', 'kelvin'] },
        more: { $ref: '#/$defs/more' },
      },
      required: ['city', 'unit'],
      additionalProperties: false,
      $defs: {
        more: {
          type: 'object',
          properties: { tags: { type: 'array', items: { enum: ['a', 'b"'] } } },
          required: ['tags'],
        },
      },
    },
  },
  { name: 'get', description: 'Gets', parameters: { type: 'object', properties: { ok: { type: 'boolean' } } } },
];
const ajv = new Ajv2020();
const isValid = new Map(TOOLS.map(({ name, parameters = {} }) => [name, ajv.compile(parameters)]));

/** A vocabulary in which the template's own tags are control tokens without bytes. */
function tokenizerOf(source: string) {
  const json = byteLevelJson();
  const tags = new Set(source.match(/<[|｜/]?[\w:｜▁|]+[|｜]?>|\[\/?[A-Z_]+\]/g));
  const added = [...tags].filter((tag) => !/^\[[A-Z]?\]$/.test(tag));
  (json.added_tokens as Json[]).push(
    ...added.map((content, i) => ({ id: 5000 + i, content, special: true, normalized: false })),
  );
  return createTokenizer(files({ tokenizerJson: json, tokenizerConfig: { chat_template: source } }));
}

function answersOf(source: string, tools = TOOLS) {
  const template = createChatTemplate(source, { bosToken: '<s>', eosToken: '</s>' });
  const tokenizer = tokenizerOf(source);
  const form = answerForm(template.syntax, tokenizer, MOST_CONTROLS);
  const { controls, calls } = form;
  const compile = (isForced: boolean) => compileAnswer({ form, tools, isForced });
  const decode = (bytes: Uint8Array) => {
    let text = '';
    let plain: number[] = [];
    const flush = () => {
      text += new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(plain));
      plain = [];
    };
    for (const byte of bytes) {
      if (byte < 0xf5) plain.push(byte);
      else {
        flush();
        text += controls[byte - 0xf5];
      }
    }
    flush();
    return text;
  };
  const read = (text: string) => {
    const parser = createAnswerParser(tokenizer, { syntax: template.syntax, tools: TOOLS, readCalls, goesOn: true });
    const parts = [...tokenizer.encode(text, { addSpecialTokens: false })].flatMap((id) => {
      parser.push(id);
      return [...parser.parts];
    });
    parser.flush();
    return [...parts, ...parser.parts];
  };
  return { calls, controls, compile, decode, read };
}

const placeAfter = (automaton: Parameters<typeof walk>[0], bytes: Uint8Array): Place => {
  const place = walk(automaton, START, bytes);
  if (!place) throw new Error(`refused: ${new TextDecoder().decode(bytes)}`);
  return place;
};

/** Every call of an answer is whole, known and valid. */
function checkCalls(parts: ReturnType<ReturnType<typeof answersOf>['read']>, text: string): number {
  const calls: { name: string; json: string }[] = [];
  for (const part of parts) {
    if (part.type === 'reasoning') continue;
    if (part.type === 'tool-call-error') throw new Error(`${part.message} ${text}`);
    if (part.name !== undefined) calls.push({ name: part.name, json: '' });
    calls[calls.length - 1].json += part.arguments;
  }
  for (const { name, json } of calls) {
    const validate = isValid.get(name);
    expect(validate?.(JSON.parse(json)), `${text}: ${JSON.stringify(validate?.errors)}`).toBe(true);
  }
  return calls.length;
}

const READ = sources.filter(([, source]) => answersOf(source).calls !== null);

test('most published templates have calls that can be constrained', () => {
  expect(READ.length).toBeGreaterThan(7);
});

describe.each(READ)('%s', (_, source) => {
  const answers = answersOf(source);
  const { calls, controls } = answers;
  const begin = (calls?.begin ?? '').split('\0')[0];

  test('text is free, and a call that begins is a call of a tool', () => {
    const { automaton, warnings } = answers.compile(false);
    expect(warnings).toEqual([]);
    for (let byte = 0; byte < 256; byte++) expect(stepByte(automaton, START, byte), `byte ${byte}`).not.toBeNull();
    const text = new TextEncoder().encode('Grüße, {"name": 1} <t');
    expect(mayEnd(automaton, placeAfter(automaton, text))).toBe(true);

    const random = randomSource(1);
    // Without a tag, only the whole beginning tells a call from other JSON.
    const opening = calls?.trigger ?? `${begin}get_weather${calls?.middle}`;
    const before = calls?.trigger === null ? '' : 'Let me look. ';
    for (const spelled of [controls, []]) {
      const from = placeAfter(automaton, controlBytes(before + opening, spelled));
      expect(mayEnd(automaton, from)).toBe(false);
      const draw = documentSource(automaton, random, { from, endsSoon: true, decode: answers.decode });
      for (let i = 0; i < DRAWS; i++) {
        const answer = before + opening + draw();
        expect(checkCalls(answers.read(answer), answer), answer).toBeGreaterThan(0);
      }
    }
  });

  test('a call that was asked for is one', () => {
    const { automaton } = answers.compile(true);
    const random = randomSource(2);
    const openings = [begin.trimEnd(), ...(calls?.begin === begin ? [`${begin}get_weather`] : [])];
    for (const opening of openings) {
      const from = placeAfter(automaton, controlBytes(opening, controls));
      const draw = documentSource(automaton, random, { from, endsSoon: true, decode: answers.decode });
      for (let i = 0; i < DRAWS; i++) {
        const answer = opening + draw();
        expect(checkCalls(answers.read(answer), answer), answer).toBeGreaterThan(0);
      }
    }
  });
});

describe('a tool whose schema is not enforced', () => {
  const odd: Tool = { name: 'odd', parameters: { type: 'object', not: { required: ['x'] } } };
  const source = templates['Qwen-Qwen2.5-7B-Instruct'];
  const taken = (tools: Tool[], text: string) => {
    const { automaton, warnings } = answersOf(source, tools).compile(false);
    return { place: walk(automaton, START, new TextEncoder().encode(text)), warnings };
  };

  test('takes any object, and the others keep theirs', () => {
    const call = (name: string, json: string) => `<tool_call>\n{"name": "${name}", "arguments": ${json}}`;
    const { place, warnings } = taken([...TOOLS, odd], call('odd', '{"x": [1]}'));
    expect(place).not.toBeNull();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('"odd"');
    expect(warnings[0]).toContain('"not"');
    expect(taken([...TOOLS, odd], call('get', '{"ok": 1')).place).toBeNull();
    expect(taken([odd], call('odd', '{}')).place).not.toBeNull();
    expect(taken([odd], call('odd', '[')).place).toBeNull();
  });

  test('of no parameters takes an object', () => {
    const { place, warnings } = taken([{ name: 'now' }], '<tool_call>\n{"name": "now", "arguments": {}}');
    expect(place).not.toBeNull();
    expect(warnings).toEqual([]);
  });
});

describe('a document', () => {
  const constraint = { kind: 'json_schema', schema: { enum: [1, 2] }, layout: 'line' } as const;
  const thinking = { open: '<think>\n', close: '\n</think>\n\n' };
  const takes = (automaton: Parameters<typeof walk>[0], text: string, controls: readonly string[] = []) => {
    const place = walk(automaton, START, controlBytes(text, controls));
    return place === null ? 'refused' : mayEnd(automaton, place) ? 'whole' : 'begun';
  };

  test.each([[[]], [['<think>', '</think>']]])(
    'comes behind thinking, which is free (control tokens: %j)',
    (controls) => {
      const form = { thinking, calls: null, controls };
      const { automaton } = compileAnswer({ constraint, form, tools: [], isForced: false });
      expect(takes(automaton, '1', controls)).toBe('whole');
      expect(takes(automaton, 'x', controls)).toBe('refused');
      expect(takes(automaton, '<think>\nI think {"a" <tool> ü', controls)).toBe('begun');
      expect(takes(automaton, '<think></think>', controls)).toBe('begun');
      expect(takes(automaton, '<think>\nNo.\n</think>\n\n2', controls)).toBe('whole');
      expect(takes(automaton, '<think>\nNo.\n</think>\n\nx', controls)).toBe('refused');
      expect(takes(automaton, '<think>a</think>1 ', controls)).toBe('refused');
    },
  );

  test('gives way to a call', () => {
    const { compile: _, ...answers } = answersOf(templates['Qwen-Qwen2.5-7B-Instruct']);
    const form = { thinking: null, calls: answers.calls, controls: answers.controls };
    const { automaton } = compileAnswer({ constraint, form, tools: TOOLS, isForced: false });
    expect(takes(automaton, '2')).toBe('whole');
    const call = '<tool_call>\n{"name": "get", "arguments": {"ok": true}}\n</tool_call>';
    expect(takes(automaton, call, form.controls)).toBe('whole');
    expect(takes(automaton, `${call}\n${call}`, form.controls)).toBe('whole');
    expect(takes(automaton, `${call}2`, form.controls)).toBe('refused');
  });
});
