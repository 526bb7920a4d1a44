// Text has four sizes, all of them in theme.css: the styles of the page, the panel and the tag name them.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const SRC = path.resolve(import.meta.dirname, '../../../src');
const ROOMS = ['ui', 'metrics', 'embed'];

/** The styles in a file: all of a style sheet, the css`…` of a module. */
function stylesOf(file: string): string {
  const text = readFileSync(path.join(SRC, file), 'utf8');
  if (file.endsWith('.css')) return text;
  return [...text.matchAll(/\bcss`([^`]*)`/g)].map(([, styles]) => styles).join('\n');
}

/** The values of every `font-size` and `font` below the rooms, with the file that holds each. */
function sizes(): { file: string; value: string }[] {
  const files = ROOMS.flatMap((room) =>
    readdirSync(path.join(SRC, room), { recursive: true, encoding: 'utf8' }).map((file) => `${room}/${file}`),
  ).filter((file) => /\.ts$|page\.css$/.test(file));
  return files.flatMap((file) =>
    [...stylesOf(file).matchAll(/[\s{;]font(?:-size)?: ([^';}]+)/g)].map(([, value = '']) => ({
      file,
      value,
    })),
  );
}

test('styles take text sizes from the theme', () => {
  // The headings, the code and the marks of footnotes of an answer scale with the text around them.
  const isOfTheme = (value: string) => /^inherit\b|^0$|var\(--[a-z-]*(small|size|reading|display)\b/.test(value);
  const isOfAnswer = ({ file, value }: { file: string; value: string }) =>
    ['ui/turn/text_styles.ts', 'ui/markdown/math_styles.ts'].includes(file) && /\d(\.\d+)?em\b/.test(value);
  const all = sizes();
  expect(all.length).toBeGreaterThan(40);
  expect(all.filter((each) => !isOfTheme(each.value) && !isOfAnswer(each))).toEqual([]);
});

test('the theme has four text sizes', () => {
  const theme = readFileSync(path.join(SRC, 'ui/shared/theme.css'), 'utf8');
  expect(theme.match(/--v-size[a-z-]*(?=:)/g)).toEqual([
    '--v-size-small',
    '--v-size',
    '--v-size-reading',
    '--v-size-display',
  ]);
});
