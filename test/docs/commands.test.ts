// Every command that the docs print: its script exists, its flags are known, and a test runs it or a line here says why
// none does.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseBench } from '../../bench/terminal/flags';
import { ROOT } from '../../tools/lib/ensure.mjs';
import { readGenerateFlags } from '../../tools/lib/generate/generate_flags';
import { FILES, inlineCodeOf, read } from './markdown';

const GPU = 'Needs a real GPU for minutes.';
const SEARCH = 'A search of minutes, with seeds of its own.';

/** Scripts of package.json: the test that runs one, or the reason why none does. */
const SCRIPTS: Readonly<Record<string, string>> = {
  start: 'test/browser/chat/start.test.ts',
  test: 'It would run itself.',
  lint: 'Part of npm test, as checks of their own.',
  build: 'test/browser/build.ts',
  docs: 'test/words.test.ts',
  generate: 'test/browser/engine/generate.test.ts',
  'bench attention': 'test/browser/engine/bench.test.ts',
  'bench baseline': 'test/browser/engine/bench.test.ts',
  'bench decode': 'test/browser/engine/bench.test.ts',
  'bench kv': 'test/browser/engine/bench.test.ts',
  'bench prefill': 'test/browser/engine/bench.test.ts',
  'bench quality': 'test/browser/engine/bench.test.ts',
  'bench race': 'test/browser/engine/bench.test.ts',
  'bench step': 'test/browser/engine/bench.test.ts',
  'bench tune': 'test/browser/engine/bench.test.ts',
  plot: 'test/bench/terminal/plots/decode_plot.test.ts',
  fuzz: 'test/fuzz/fuzz.test.ts',
  soak: SEARCH,
  'soak-leaks': SEARCH,
  'kv-search': SEARCH,
  'tabs-search': SEARCH,
  'constraint-search': SEARCH,
  'bundle-order': SEARCH,
  'check-models': GPU,
  'crash-cost': GPU,
  'load-memory': 'Loads gigabytes.',
  'panel-cost': 'test/browser/panel/panel_cost.test.ts',
  'test-servers': "Runs llama.cpp's server for minutes.",
  wgsl: 'test/tools/wgsl.test.ts',
};

/** Beginnings of commands of other programs, and why no test runs them. */
const OTHERS: Readonly<Record<string, string>> = {
  'npm install': 'test/browser/engine/bundlers.test.ts',
  'npm pack .': 'test/package/pack.ts',
  'npx vite examples/': 'test/browser/embed/examples.test.ts',
  'npx vitest run ': 'The files are tests.',
  'pip install "ray[llm]==': 'Needs Ray and a GPU.',
  'MODEL=my-model.gguf docker compose up': 'Needs Docker.',
  'curl http://localhost:8000/v1/models': 'Needs a server.',
  'serve status': 'Needs Ray.',
};

interface Command {
  place: string;
  text: string;
}

const IS_COMMAND = /^(?:(?:npm|npx|pip|curl|serve) |bench -- |node \S+\/|MODEL=)/;

/** The command of a line, without the words behind it. */
function commandOf(line: string): string {
  const [code] = line.trim().split(/\s+# /);
  return code.replace(/^bench --/, 'npm run --silent bench --');
}

const COMMANDS: readonly Command[] = FILES.flatMap((file) => {
  const page = read(file);
  const lines = [...page.fences.flatMap(({ text }) => text.split('\n')), ...inlineCodeOf(page)];
  return lines.filter((line) => IS_COMMAND.test(line.trim())).map((line) => ({ place: file, text: commandOf(line) }));
});

/** The words of a command: quoted text is one, `[--flag x]` is no more than `--flag x`, and N is a number. */
function wordsOf(command: string): string[] {
  const words: string[] = command.replace(/[[\]]/g, '').match(/"[^"]*"|\S+/g) ?? [];
  const end = words.indexOf('>');
  return (end < 0 ? words : words.slice(0, end)).map((word) => (word === 'N' ? '1' : word.replaceAll('"', '')));
}

interface Script {
  name: string;
  flags: readonly string[];
}

/** The script of `npm run`, `npm start` or `npm test`, or null for another command. */
function scriptOf({ text }: Command): Script | null {
  const words = wordsOf(text).filter((word) => word !== '--silent');
  if (words[0] !== 'npm' || !['run', 'start', 'test'].includes(words[1])) return null;
  const name = words[1] === 'run' ? words[2] : words[1];
  const dashes = words.indexOf('--');
  return { name, flags: dashes < 0 ? [] : words.slice(dashes + 1) };
}

const PACKAGE = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** Flags that the source of a tool does not name. */
function unknownFlags({ name, flags }: Script): string[] {
  const [file] = /\S+\.(?:ts|mjs)$/.exec(PACKAGE.scripts[name]) ?? [''];
  if (!file) return flags.filter((flag) => flag.startsWith('--'));
  const source = readFileSync(path.join(ROOT, file.replace('start.mjs', 'start.ts')), 'utf8');
  const names = flags.filter((flag) => flag.startsWith('--')).map((flag) => flag.slice(2));
  return names.filter((flag) => !new RegExp(`^  '?${flag}'?: \\{`, 'm').test(source) && !source.includes(`{ ${flag}:`));
}

test.each(COMMANDS.flatMap((command) => scriptOf(command) ?? []))('npm run $name $flags', (script) => {
  const { name, flags } = script;
  expect(PACKAGE.scripts).toHaveProperty([name]);
  const key = name === 'bench' ? `bench ${flags[0]}` : name;
  expect(SCRIPTS[key], `${key} is in the table of this test`).toBeDefined();
  if (name === 'bench') parseBench(flags);
  else if (name === 'generate') readGenerateFlags(flags.length > 0 ? flags : ['--help']);
  else if (name !== 'test' && name !== 'wgsl') expect(unknownFlags(script)).toEqual([]);
});

test('every other command is known', () => {
  const others = COMMANDS.filter((command) => scriptOf(command) === null);
  const isKnown = ({ text }: Command) => Object.keys(OTHERS).some((start) => text.startsWith(start));
  expect(others.filter((command) => !isKnown(command))).toEqual([]);
  const files = others.flatMap(({ text }) =>
    text.split(' ').filter((word) => /^(?:test|examples)\/(?!NAME)/.test(word)),
  );
  expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});

test('the commands of Vite name a folder alone, as test/browser/embed/examples.test.ts builds it', () => {
  const commands = COMMANDS.map(({ text }) => text).filter((text) => text.startsWith('npx vite '));
  expect(commands.length).toBeGreaterThan(4);
  expect(commands.filter((text) => !/^npx vite examples\/\w+$/.test(text))).toEqual([]);
});

test('the tables name tests that are there, and nothing that no page prints', () => {
  const tests = Object.values({ ...SCRIPTS, ...OTHERS }).filter((value) => value.startsWith('test/'));
  expect(tests.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  const printed = COMMANDS.map(scriptOf).map((script) =>
    script?.name === 'bench' ? `bench ${script.flags[0]}` : script?.name,
  );
  expect(Object.keys(SCRIPTS).filter((key) => !printed.includes(key))).toEqual([]);
  const isPrinted = (start: string) => COMMANDS.some(({ text }) => text.startsWith(start));
  expect(Object.keys(OTHERS).filter((start) => !isPrinted(start))).toEqual([]);
});
