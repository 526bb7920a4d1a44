// No text on screen is written into a template: all come from src/words.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const SRC = path.resolve(import.meta.dirname, '../../src');
const ROOMS = ['ui', 'embed', 'metrics'];

/** Names and examples that are the same in every language. */
const SAME = /^(?:JSON|CSV|CPU|GPU|TBT|ms|µs|owner\/name|Vivace|Storyteller)$/;

/** The templates of a file, with `\0` in place of their values. */
function templatesOf(code: string): string[] {
  const found: string[] = [];
  let at = 0;
  for (;;) {
    at = code.indexOf('html`', at);
    if (at < 0) return found;
    at += 5; // templates inside its values are found again, by themselves
    found.push(readTemplate(code, at).text);
  }
}

/** Reads to the backtick that ends a template. Values are left out, whatever they hold. */
function readTemplate(code: string, from: number): { text: string; end: number } {
  let text = '';
  let i = from;
  while (i < code.length && code[i] !== '`') {
    if (code[i] === '\\') i += 2;
    else if (code.startsWith('${', i)) {
      i = skipValue(code, i + 2);
      text += '\0';
    } else text += code[i++];
  }
  return { text, end: i + 1 };
}

/** The place after the brace that ends a value. Strings and templates inside it are passed over. */
function skipValue(code: string, from: number): number {
  let depth = 1;
  let i = from;
  while (i < code.length && depth > 0) {
    const letter = code[i];
    if (letter === '`') i = readTemplate(code, i + 1).end;
    else if (letter === "'" || letter === '"') i = code.indexOf(letter, i + 1) + 1;
    else {
      if (letter === '{') depth++;
      if (letter === '}') depth--;
      i++;
    }
  }
  return i;
}

/** The words that a reader would see or hear: texts between tags, and attributes that are spoken or shown. */
function literalsOf(template: string): string[] {
  const attributes = [...template.matchAll(/\s(?:title|aria-label|placeholder|alt|aria-roledescription)="([^"]*)"/g)];
  const texts = template.replace(/<!--.*?-->/gs, '').replace(/<[^>]*>/gs, '\n');
  return [...attributes.map(([, value = '']) => value), ...texts.split(/[\n\0]/)]
    .map((text) => text.trim())
    .filter((text) => /\p{L}{2}/u.test(text) && !SAME.test(text));
}

const files = ROOMS.flatMap((room) =>
  readdirSync(path.join(SRC, room), { recursive: true, encoding: 'utf8' }).map((file) => `${room}/${file}`),
).filter((file) => file.endsWith('.ts'));

const found = new Map(
  files.map((file) => [file, templatesOf(readFileSync(path.join(SRC, file), 'utf8')).flatMap(literalsOf)]),
);

test('this test finds texts and attributes', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the code of a template
  const [template = ''] = templatesOf('html`<p title="Read me">Hello ${a ? html`<b>x</b>` : \'no\'} you</p>`');
  expect(literalsOf(template)).toEqual(['Read me', 'Hello', 'you']);
});

test('no template holds a text', () => {
  const wrong = [...found].filter(([, texts]) => texts.length > 0);
  expect(wrong).toEqual([]);
});
