// The text of an answer: it equals decode() of its ids, appears early, and never shows half a character or a
// stop string.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAnswerParser } from '../../../src/text/answer/answer_parser';
import type { AnswerOptions } from '../../../src/text/answer/answer_part';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { LONGEST_HOLD } from '../../../src/text/decode/graphemes';
import type { Tokenizer } from '../../../src/text/tokenizer';
import { mixedText, plainText, SEED } from '../arbitraries';
import { files } from '../fixtures';
import { byteLevelJson, sentencePieceGguf } from '../tiny_vocabulary';

const byteLevel = createTokenizer(files({ tokenizerJson: byteLevelJson() }));
const sentencePiece = createTokenizer(files({ gguf: sentencePieceGguf() }));

/** An answer that keeps its text. */
function createAnswer(tokenizer: Tokenizer, options: AnswerOptions = {}) {
  const parser = createAnswerParser(tokenizer, options);
  const keep = (text: string) => {
    answer.text += text;
    return text;
  };
  const answer = {
    text: '',
    push: (id: number) => keep(parser.push(id)),
    flush: () => keep(parser.flush()),
    get stopped() {
      return parser.stopped;
    },
  };
  return answer;
}

function stream(tokenizer: Tokenizer, ids: ArrayLike<number>, stop: string[] = []) {
  const decoder = createAnswer(tokenizer, { stop });
  const shown = Array.from(ids, (id) => decoder.push(id));
  shown.push(decoder.flush());
  return { shown, decoder, text: shown.join('') };
}

/** One token per byte: the hardest stream. */
const bytes = (text: string) => Array.from(new TextEncoder().encode(text), (byte) => byteLevelIdOf(byte));
const byteIds = Array.from({ length: 256 }, (_, id) => byteLevel.tokenBytes(id)[0]);
const byteLevelIdOf = (byte: number) => byteIds.indexOf(byte);

describe.each([
  ['byte-level', byteLevel],
  ['SentencePiece', sentencePiece],
] as const)('%s', (_, tokenizer) => {
  test("a stream that continues a text equals decode()'s addition to it", () => {
    fc.assert(
      fc.property(mixedText, mixedText, (begun, more) => {
        const prompt = tokenizer.encode(`x${begun}`);
        const ids = tokenizer.encode(more, { addSpecialTokens: false });
        const decoder = createAnswer(tokenizer, { goesOn: true });
        const text = Array.from(ids, (id) => decoder.push(id)).join('') + decoder.flush();
        expect(tokenizer.decode(prompt) + text).toBe(tokenizer.decode([...prompt, ...ids]));
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  test('the whole stream equals decode() of all ids', () => {
    fc.assert(
      fc.property(mixedText, (text) => {
        const ids = tokenizer.encode(text);
        const { text: streamed, decoder } = stream(tokenizer, ids);
        expect(streamed).toBe(tokenizer.decode(ids));
        expect(decoder.text).toBe(streamed);
      }),
      { seed: SEED, numRuns: 500 },
    );
  });

  test('also for ids in any order, whether valid text or not', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(tokenizer.vocabSize + 3), { maxLength: 30 }), (ids) => {
        expect(stream(tokenizer, ids).text).toBe(tokenizer.decode(ids));
      }),
      { seed: SEED, numRuns: 500 },
    );
  });

  test('the text ends before the first stop string, wherever tokens end', () => {
    fc.assert(
      fc.property(
        plainText,
        fc.array(fc.string({ minLength: 1, maxLength: 4 }), { maxLength: 2 }),
        plainText,
        (a, stops, b) => {
          const ids = tokenizer.encodePlain(a + (stops[0] ?? '') + b);
          const whole = tokenizer.decode(ids);
          const { text, shown, decoder } = stream(tokenizer, ids, stops);
          expect(whole.startsWith(text)).toBe(true);
          expect(stops.some((stop) => text.includes(stop))).toBe(false);
          expect(decoder.stopped).toBe(stops.some((stop) => whole.includes(stop)));
          if (decoder.stopped) expect(stops.some((stop) => whole.startsWith(stop, text.length))).toBe(true);
          else expect(text).toBe(whole);
          expect(shown.join('')).toBe(decoder.text);
        },
      ),
      { seed: SEED, numRuns: 500 },
    );
  });
});

test('ASCII and letters of Latin, Chinese and Korean are shown at once', () => {
  for (const text of ['Hello, world! 1 + 1', 'Größe', '文字', '한국']) {
    const decoder = createAnswer(byteLevel);
    for (const char of text) {
      const shown = bytes(char).map((id) => decoder.push(id));
      expect(shown.join('')).toBe(char);
    }
  }
});

test.each([
  ['a family', '👩‍👩‍👧'],
  ['a skin tone', '👍🏽'],
  ['a heart with its selector', '❤️'],
  ['a flag', '🇩🇪'],
  ['a Hangul syllable of letters', '\u1112\u1161\u11ab'],
  ['a Devanagari syllable', 'क्षि'],
  ['an emoji of tags', '\u{1F3F4}\u{E0067}\u{E0062}\u{E007F}'],
])('is shown at once: %s', (_, character) => {
  const { shown, text } = stream(byteLevel, bytes(`${character}.`));
  expect(text).toBe(`${character}.`);
  expect(shown.filter((piece) => piece !== '')[0].startsWith(character)).toBe(true);
});

test('a second flag starts only after the first', () => {
  expect(stream(byteLevel, bytes('🇩🇪🇫🇷')).shown.filter((piece) => piece !== '')).toEqual(['🇩🇪', '🇫🇷']);
});

test('at most LONGEST_HOLD units wait', () => {
  const decoder = createAnswer(byteLevel);
  const text = `e${'\u0301'.repeat(500)}${'👩\u200d'.repeat(200)}${'🇩'.repeat(99)}`;
  let pushed = '';
  for (const char of text) {
    for (const id of bytes(char)) decoder.push(id);
    pushed += char;
    expect(pushed.length - decoder.text.length).toBeLessThanOrEqual(LONGEST_HOLD);
  }
});

test('invalid bytes show as U+FFFD, an unfinished character only at the end', () => {
  const decoder = createAnswer(byteLevel);
  expect(decoder.push(byteLevelIdOf(0xe2))).toBe('');
  expect(decoder.push(byteLevelIdOf(0x41))).toBe('\ufffdA');
  expect(decoder.push(byteLevelIdOf(0xf0))).toBe('');
  expect(decoder.flush()).toBe('\ufffd');
  expect(decoder.flush()).toBe('');
});

test('a possible stop string waits, and is released otherwise', () => {
  const decoder = createAnswer(byteLevel, { stop: ['END', '\n\n'] });
  const push = (text: string) => bytes(text).map((id) => decoder.push(id));
  expect(push('aE')).toEqual(['a', '']);
  expect(push('Nx')).toEqual(['', 'ENx']);
  expect(push('b\n')).toEqual(['b', '']);
  expect(decoder.stopped).toBe(false);
  expect(push('\ncd')).toEqual(['', '', '']);
  expect(decoder.stopped).toBe(true);
  expect(decoder.flush()).toBe('');
  expect(decoder.text).toBe('aENxb');
});

test('held text is released at the end, and an empty stop string stops nothing', () => {
  const { text, decoder } = stream(byteLevel, bytes('fin EN'), ['END', '']);
  expect(text).toBe('fin EN');
  expect(decoder.stopped).toBe(false);
});

test('only the first space of a SentencePiece answer is dropped', () => {
  const ids = sentencePiece.encodePlain('the dog');
  expect(new TextDecoder().decode(sentencePiece.tokenBytes(ids[0]))).toBe(' the');
  expect(stream(sentencePiece, ids).text).toBe('the dog');
  expect(stream(sentencePiece, sentencePiece.encodePlain('  the dog')).text).toBe('  the dog');
});
