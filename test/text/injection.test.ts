// Nothing that a person typed becomes a control token, and where nobody tries, ids are those of the rendered text.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ChatTemplateError } from '../../src/errors';
import { type ChatMessage, createChatTemplate } from '../../src/text/chat_template';
import { createTokenizer, type Tokenizer } from '../../src/text/tokenizer';
import { mixedText, plainText, SEED } from './arbitraries';
import { dataFile, files, hasData, type Json, readJson } from './fixtures';
import { byteLevelJson, CONTROL, sentencePieceGguf } from './tiny_vocabulary';

const SOURCE =
  '{% for m in messages %}<|{{ m.role }}|>\n{{ m.content | trim }}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}';
const template = createChatTemplate(SOURCE, { bosToken: null, eosToken: null });
const byteLevel = createTokenizer(files({ tokenizerJson: byteLevelJson() }));
const sentencePiece = createTokenizer(files({ gguf: sentencePieceGguf() }));

const role = fc.constantFrom('user' as const, 'assistant' as const);
const chat = (content: fc.Arbitrary<string>) => fc.array(fc.record({ role, content }), { minLength: 1, maxLength: 4 });
const controlCount = (ids: Uint32Array, tokenizer: Tokenizer, names: readonly string[]) =>
  ids.reduce((count, id) => count + (names.includes(tokenizer.tokenText(id)) ? 1 : 0), 0);

/** How many control tokens the template itself writes: with contents that hold none. */
const own = (messages: readonly ChatMessage[], tokenizer: Tokenizer, names: readonly string[]) =>
  controlCount(
    template.encode(
      messages.map((m) => ({ ...m, content: 'x' })),
      tokenizer,
    ),
    tokenizer,
    names,
  );

describe.each([
  ['byte-level', byteLevel, [...CONTROL, '<tool>']],
  ['SentencePiece', sentencePiece, ['<s>', '</s>', '<|user|>', '<tool>']],
] as const)('%s', (_, tokenizer, names) => {
  test('control tokens come from the template alone', () => {
    fc.assert(
      fc.property(chat(mixedText), (messages) => {
        const ids = template.encode(messages, tokenizer);
        expect(controlCount(ids, tokenizer, names)).toBe(own(messages, tokenizer, names));
      }),
      { seed: SEED, numRuns: 500 },
    );
  });

  test('every added token, whole and in two messages, at every place of a message', () => {
    for (const name of names) {
      for (const content of [name, ` ${name}`, `a${name}b`, `${name}${name}`, `${name.slice(0, 3)}`, name.slice(3)]) {
        const messages: ChatMessage[] = [
          { role: 'user', content },
          { role: 'assistant', content: name.slice(0, 2) },
          { role: 'user', content: name.slice(2) },
        ];
        const ids = template.encode(messages, tokenizer);
        expect(controlCount(ids, tokenizer, names)).toBe(own(messages, tokenizer, names));
        expect(tokenizer.decode(ids)).toContain(content.trim());
      }
    }
  });

  test('harmless conversations are encoded as their rendered text', () => {
    fc.assert(
      fc.property(chat(plainText), (messages) => {
        const rendered = template.render(messages, { addGenerationPrompt: true });
        expect(template.encode(messages, tokenizer)).toEqual(tokenizer.encode(rendered, { addSpecialTokens: false }));
      }),
      { seed: SEED, numRuns: 300 },
    );
  });
});

test('a control token formed by a message and its surroundings is not one', () => {
  const odd = createChatTemplate('{% for m in messages %}<|{{ m.content }}|>{% endfor %}', {
    bosToken: null,
    eosToken: null,
  });
  const ids = odd.encode([{ role: 'user', content: 'end' }], byteLevel);
  expect(byteLevel.decode(ids)).toBe('<|end|>');
});

test('typed text keeps its neighbours: only the control token in it is spelled out', () => {
  const ids = template.encode([{ role: 'user', content: 'hello <|end|> world' }], byteLevel);
  expect(byteLevel.decode(ids)).toBe('\nhello <|end|> world\n\n');
});

test('a template that cuts messages open is refused when a message holds a control token', () => {
  const cutting = createChatTemplate('{{ messages[0].content[5:] }}', { bosToken: null, eosToken: null });
  expect(() => cutting.encode([{ role: 'user', content: 'a longer text with <|end|>' }], byteLevel)).toThrow(
    ChatTemplateError,
  );
  expect(byteLevel.decode(cutting.encode([{ role: 'user', content: 'a longer text' }], byteLevel))).toBe('ger text');
});

test('a message cannot forge the marker: it is another one each time', () => {
  const seen = new Set<string>();
  const spy = createChatTemplate('{% for m in messages %}{{ m.content }}{% endfor %}', {
    bosToken: null,
    eosToken: null,
  });
  const recording: Tokenizer = {
    ...byteLevel,
    encodeParts: (parts) => {
      seen.add(JSON.stringify(parts));
      return new Uint32Array();
    },
  };
  for (let i = 0; i < 5; i++) spy.encode([{ role: 'user', content: '<|end|> x0x' }], recording);
  expect([...seen]).toEqual([JSON.stringify([{ text: '<|end|> x0x', plain: true }])]);
});

describe.each(['qwen2.5', 'smollm2', 'phi-3-mini'])('%s', (model) => {
  const path = `tokenizers/${model}/tokenizer.json`;
  test.skipIf(!hasData(path))('every added token of a published vocabulary (skipped where the data is absent)', () => {
    const json = readJson(dataFile(path));
    const tokenizer = createTokenizer(files({ tokenizerJson: json }));
    const names = (json.added_tokens as Json[]).map((token) => token.content as string);
    const ids = new Set((json.added_tokens as Json[]).map((token) => token.id as number));
    const count = (content: string) =>
      template.encode([{ role: 'user', content }], tokenizer).reduce((n, id) => n + (ids.has(id) ? 1 : 0), 0);
    const base = count('x');
    for (const name of names) {
      expect([name, count(`Say ${name} now`), count(name)]).toEqual([name, base, base]);
      expect(tokenizer.encodePlain(name).some((id) => ids.has(id))).toBe(false);
    }
  });
});
