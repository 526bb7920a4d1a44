// `npm run wgsl`, and the storyteller's kernels as golden text: the diff of a piece shows what it does to what is
// compiled.

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { shadersOf, USAGE, wgslCommand } from '../../tools/wgsl/command';
import { DEFAULTS, KERNELS, PREFILL_KERNELS } from '../../tools/wgsl/kernels';

const GOLDEN = path.resolve(import.meta.dirname, '../fixtures/wgsl');
const UPDATE = 'npx vitest run --project unit test/tools/wgsl.test.ts --update';

const golden: readonly [file: string, kernel: string, prefill: boolean][] = [
  ...Object.keys(KERNELS).map((kernel): [string, string, boolean] => [`${kernel}.wgsl`, kernel, false]),
  ...PREFILL_KERNELS.map((kernel): [string, string, boolean] => [`${kernel}_prefill.wgsl`, kernel, true]),
];

/** The code without its comments, but with the marks of its files: words may change freely. */
function bare(code: string): string {
  const lines = code.split('\n').map((line) => (line.startsWith('// --- ') ? line : line.replace(/\s*\/\/.*/, '')));
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

test.each(golden)(`%s is what is compiled (else: ${UPDATE})`, async (file, kernel, prefill) => {
  const shaders = await shadersOf(kernel, { prefill });
  // Kernels for passes of other sizes differ in their constants, and short ones of gate and up leave floats; that of the
  // longest is kept.
  const forms = new Set(shaders.map(({ code }) => code.replace(/^const \w+ = \d+u;$/gm, '')));
  expect(forms.size).toBe(file === 'gate_up_prefill.wgsl' ? 2 : 1);
  await expect(bare(shaders.at(-1)?.code ?? '')).toMatchFileSnapshot(path.join(GOLDEN, file));
});

test('every golden file belongs to a kernel', () => {
  const known = new Set(golden.map(([file]) => file));
  expect(readdirSync(GOLDEN).filter((file) => !known.has(file))).toEqual([]);
});

/** The exit code of a command line, and what it prints. */
async function run(...argv: string[]) {
  const said = { out: '', err: '' };
  const code = await wgslCommand(
    argv,
    (text: string) => {
      said.out += `${text}\n`;
    },
    (text: string) => {
      said.err += `${text}\n`;
    },
  );
  return { code, ...said };
}

test('flags choose the pieces, each under the name of its file', async () => {
  const { code, out } = await run('qkv', '--format', 'q4', '--kv', 'f32', '--subgroups', '0');
  expect(code).toBe(0);
  const marks = out.split('\n').filter((line) => line.startsWith('// --- '));
  expect(marks).toContain('// --- shaders/linear/weights/q4.wgsl');
  expect(marks).toContain('// --- shaders/attention/kv/kv_f32.wgsl');
  expect(marks).toContain('// --- shaders/linear/row_sums_plain.wgsl');
  expect(marks.at(-1)).toBe('// --- shaders/linear/epilogues/qkv.wgsl');
});

test('an unknown kernel is an error with the list', async () => {
  const { code, err } = await run('qvk');
  expect(code).toBe(2);
  expect(err).toContain('qvk is no kernel. Kernels: embed, qkv');
  expect((await run()).code).toBe(2);
  expect((await run('qkv', '--format', 'q3')).code).toBe(2);
  expect((await run('qkv', '--frmat', 'q4')).code).toBe(2);
});

test('--help lists every kernel and every format', async () => {
  expect(await run('--help')).toEqual({ code: 0, out: `${USAGE}\n`, err: '' });
  for (const kernel of Object.keys(KERNELS)) expect(USAGE).toContain(kernel);
  expect(USAGE).toContain(DEFAULTS.format);
});
