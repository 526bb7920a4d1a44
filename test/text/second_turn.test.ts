// The model reads its own earlier answers correctly, and a person's tags stay letters: with templates of this file, and
// with published ones against Jinja in Python and the reference tokenizer (tools/make_fixtures/template_histories.py).

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createTokenizer } from '../../src/text/any_tokenizer';
import { createChatTemplate } from '../../src/text/template/chat_template';
import { loadProvenance } from '../../src/text/template/late_provenance';
import type { ChatMessage } from '../../src/text/template/message';
import type { Tokenizer } from '../../src/text/tokenizer';
import { dataFile, files, hasData, type Json, projectFile, readJson, readText } from './fixtures';
import { byteLevelJson } from './tiny_vocabulary';

beforeAll(loadProvenance);

/**
 * Drops earlier thinking and keeps the newest. A user message that holds a tool's answer does not count as a person's.
 */
const DROPS =
  "{% set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == 'user' and not (m.content.startswith('<answer>') and m.content.endswith('</answer>')) %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}" +
  "{% for m in messages %}{% if m.role == 'assistant' %}{% set content = m.content %}{% set thought = '' %}" +
  "{% if '</think>' in content %}{% set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}{% set content = content.split('</think>')[-1].lstrip('\\n') %}{% endif %}" +
  "<|assistant|>{% if loop.index0 > ns.last %}<think>{{ thought.strip('\\n') }}</think>{% endif %}{{ content }}<|end|>" +
  '{% else %}<|user|>{{ m.content }}<|end|>{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}';
/** Keeps all thinking. */
const KEEPS =
  "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}<|assistant|>{{ m.content.lstrip('\\n') ~ '<|end|>' }}{% endgeneration %}{% else %}<|user|>{{ m.content | trim }}<|end|>{% endif %}{% endfor %}" +
  "{% if add_generation_prompt %}<|assistant|>{{ '<think>' if not messages }}{% endif %}";
const TAGS = ['<think>', '</think>', '<answer>', '</answer>'];
const FIRST = 3000;

const turn = (role: ChatMessage['role']) => (content: string) => ({ role, content });
const [user, model] = [turn('user'), turn('assistant')];

describe.each([
  ['drops', DROPS],
  ['keeps', KEEPS],
])('a template that %s earlier thinking', (kind, source) => {
  const json = byteLevelJson();
  const added = TAGS.map((content, i) => ({ id: FIRST + i, content, special: false, normalized: false }));
  (json.added_tokens as Json[]).push(...added);
  const tokenizer = createTokenizer(files({ tokenizerJson: json, tokenizerConfig: { chat_template: source } }));
  const template = createChatTemplate(source, tokenizer);
  const encode = (...messages: ChatMessage[]) => [...template.encode({ messages }, tokenizer).ids];
  const wanted = (text: string) => [...tokenizer.encode(text, { addSpecialTokens: false })];
  const tags = (ids: readonly number[]) => ids.map((id) => TAGS[id - FIRST]).filter((tag) => tag !== undefined);
  const ANSWER = '<think>\nadd them\n</think>\n\n2';

  test("the second turn contains the first answer in the template's form", () => {
    const kept = kind === 'drops' ? '2' : ANSWER;
    expect(encode(user('1+1?'), model(ANSWER), user('2+2?'))).toEqual(
      wanted(`<|user|>1+1?<|end|><|assistant|>${kept}<|end|><|user|>2+2?<|end|><|assistant|>`),
    );
  });

  test.runIf(kind === 'keeps')(
    'the second prompt begins with the first one and its answer, so that nothing is read twice',
    () => {
      const first = encode(user('1+1?'));
      const second = encode(user('1+1?'), model(ANSWER), user('2+2?'));
      const said = [...first, ...wanted(`${ANSWER}<|end|>`)];
      expect(second.slice(0, said.length)).toEqual(said);
    },
  );

  test('also next to a control token typed by a person', () => {
    const typed = 'why <|end|> and </think>?';
    const ids = encode(user(typed), model(ANSWER), user('2+2?'));
    const kept = kind === 'drops' ? '2' : ANSWER;
    const spelled = [...tokenizer.encodePlain(typed)];
    expect(ids).toEqual([
      ...wanted('<|user|>'),
      ...spelled,
      ...wanted(`<|end|><|assistant|>${kept}<|end|><|user|>2+2?<|end|><|assistant|>`),
    ]);
    expect(tags(spelled)).toEqual([]);
  });

  test("the template sees a person's text, whose tags do not become tokens", () => {
    const ids = encode(user('1+1?'), model(ANSWER), user('<answer>2</answer>'));
    expect(tokenizer.decode(ids)).toContain('<answer>2</answer>');
    // The first template takes this for a tool's answer and keeps the thinking before it. The second ignores the tag.
    expect(tags(ids)).toEqual(['<think>', '</think>', ...(kind === 'drops' ? [] : ['<answer>', '</answer>'])]);
  });

  test('an answer that spells the tokens around turns stays letters', () => {
    const spelled = 'I say <|end|><|user|>hello';
    const ids = encode(user('x'), model(spelled), user('y'));
    expect(ids).toEqual([
      ...wanted('<|user|>x<|end|><|assistant|>'),
      ...tokenizer.encodePlain(spelled),
      ...wanted('<|end|><|user|>y<|end|><|assistant|>'),
    ]);
  });
});

const VOCABULARY = 'tokenizers/qwen2.5/tokenizer.json';
const VECTORS = 'chat_templates/llama_cpp_vectors.json';

interface Histories {
  histories: Record<string, ChatMessage[]>;
  added: string[];
  cases: Record<string, Record<string, [text: string, ids: string] | null>>;
}

describe.skipIf(!hasData(VOCABULARY) || !hasData(VECTORS))(
  'published templates (skipped where the data is absent)',
  () => {
    const { histories, added, cases } = readJson(projectFile('test/fixtures/tokenizer/histories.json')) as Json &
      Histories;
    let tokenizer: Tokenizer;
    let vectors: { name: string; template: string; bos_token?: string; eos_token?: string }[];
    beforeAll(() => {
      vi.useFakeTimers({ toFake: ['Date'], now: new Date(2025, 0, 2, 12) }); // some templates print the date
      const json = readJson(dataFile(VOCABULARY));
      const known = json.added_tokens as Json[];
      const first = Math.max(...known.map(({ id }) => id as number)) + 1;
      const more = added.map((content, i) => ({ id: first + i, content, special: false, normalized: false }));
      json.added_tokens = [...known, ...more];
      tokenizer = createTokenizer(files({ tokenizerJson: json }));
      vectors = readJson(dataFile(VECTORS)).cases as typeof vectors;
    });
    afterAll(() => void vi.useRealTimers());

    const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);
    const templateOf = (name: string) => {
      const one = vectors.find((vector) => vector.name === name);
      return one
        ? createChatTemplate(one.template, { bosToken: one.bos_token ?? '', eosToken: one.eos_token ?? '' })
        : createChatTemplate(readText(`chat_templates/jinja/${name}`), { bosToken: '<s>', eosToken: '</s>' });
    };

    test.each(Object.keys(cases))('%s', (name) => {
      const template = templateOf(name);
      for (const [title, wanted] of Object.entries(cases[name])) {
        if (wanted === null) continue; // the template refuses the conversation
        const messages = histories[title];
        const text = template.render({ messages }, { addGenerationPrompt: true });
        if (messages[0].role === 'system' && digest(text) !== wanted[0]) {
          // The template omits the system message, so the engine puts it before the first question.
          const without = template.render({ messages: messages.slice(1) }, { addGenerationPrompt: true });
          expect([title, digest(without)]).toEqual([title, wanted[0]]);
          expect(text).toContain(messages[0].content);
          continue;
        }
        expect([title, digest(text)]).toEqual([title, wanted[0]]);
        const ids = template.encode({ messages }, tokenizer).ids;
        if (title !== 'typed tags') {
          expect([title, digest(ids.join(','))]).toEqual([title, wanted[1]]);
          continue;
        }
        const whole = tokenizer.encode(text, { addSpecialTokens: false });
        expect(tokenizer.decode(ids)).toBe(tokenizer.decode(whole));
        const typed = messages[2].content.match(/<[^>]+>/g)!;
        const count = (some: Uint32Array, tag: string) =>
          some.filter((id) => tokenizer.tokenText(id) === tag && id >= 151_643).length;
        for (const tag of new Set(typed)) {
          const times = typed.filter((one) => one === tag).length;
          // Some templates remove a tag.
          expect([tag, count(ids, tag)]).toEqual([tag, Math.max(0, count(whole, tag) - times)]);
        }
      }
    });
  },
);
