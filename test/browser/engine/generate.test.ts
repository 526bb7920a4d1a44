// `npm run generate` in scripts: the contract of its JSON, errors with a code, and strings that break careless tools.
// One run uses the GPU, which compiles slowly here; the others use the CPU backend.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../../../tools/lib/ensure.mjs';
import { generateInPage } from '../../../tools/lib/generate/generate_in_page';

const STORY = 'Tell me a story about a brave cat';
const CPU = ['--backend', 'cpu'];
const EXACT = ['--prompt', STORY, '--max-tokens', '12', '--activations', 'f32', '--kv', 'f32'];

interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

function start(args: string[]): ChildProcess {
  return spawn(process.execPath, [path.join(ROOT, 'tools/run.mjs'), 'tools/generate.ts', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function collect(child: ChildProcess): Promise<Finished> {
  const finished = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => {
    finished.stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    finished.stderr += chunk;
  });
  const [code] = await once(child, 'close');
  return { ...finished, code };
}

const generate = (...args: string[]) => collect(start(args));

async function generateJson(...args: string[]) {
  const { stdout, stderr, code } = await generate('--json', ...args);
  expect([code, stderr.replace(/^Building.*\n/, '')]).toEqual([0, '']);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(stdout);
}

/** Each field of the contract with its typeof, and '?' if it may be null. */
const CONTRACT: Record<string, string> = {
  model: 'string',
  adapter: 'string?',
  backend: 'string',
  'attention.prefill': 'string',
  'attention.decode': 'string',
  'attention.reason': 'string',
  'step.name': 'string',
  'step.reason': 'string',
  'step.gain': 'number?',
  'step.giveUps': 'number',
  promptIds: 'ids',
  ids: 'ids',
  text: 'string',
  reasoning: 'string',
  toolCalls: 'list',
  finishReason: 'string',
  recoveries: 'list',
  warnings: 'list',
  ttftMs: 'number',
  prefillTokensPerSecond: 'number?',
  decodeTokensPerSecond: 'number',
  'tbtMs.mean': 'number',
  'tbtMs.p50': 'number',
  'tbtMs.p95': 'number',
  'tbtMs.p99': 'number',
  'tbtMs.max': 'number',
  'tbtMs.jitter': 'number',
  'tbtMs.perToken': 'list',
  gpuMs: 'object?',
  perToken: 'object?',
  runAhead: 'number',
  peakGpuBytes: 'number?',
};

function kindOf(value: unknown): string {
  if (!Array.isArray(value)) return value === null ? 'null' : typeof value;
  return value.length > 0 && value.every((item) => Number.isSafeInteger(item) && item >= 0) ? 'ids' : 'list';
}

describe('--json', () => {
  const onGpu = () => generateJson(...EXACT, '--backend', 'webgpu', '--run-ahead', '4');
  let run: Awaited<ReturnType<typeof onGpu>>;

  test('every field of the contract is there, with the right type, and the figures agree with each other', async () => {
    run = await onGpu();
    const wrong = Object.entries(CONTRACT).filter(([field, kind]) => {
      const found = kindOf(field.split('.').reduce((at, key) => at?.[key], run));
      return !(
        found === kind.replace('?', '') ||
        (kind === 'list' && found === 'ids') ||
        (kind.endsWith('?') && found === 'null')
      );
    });
    expect(wrong).toEqual([]);
    const top = [...new Set(Object.keys(CONTRACT).map((field) => field.split('.')[0]))];
    expect(Object.keys(run).sort()).toEqual(top.sort());
    expect(run.ids).toHaveLength(12);
    expect(run.finishReason).toBe('length');
    expect(run.tbtMs.perToken).toHaveLength(run.ids.length - 1);
    expect(run.tbtMs.max).toBeCloseTo(Math.max(...run.tbtMs.perToken), 6);
    const mean = run.tbtMs.perToken.reduce((a: number, b: number) => a + b, 0) / (run.ids.length - 1);
    expect(run.tbtMs.mean).toBeCloseTo(mean, 6);
    expect(run.perToken.bytesRead).toBeLessThanOrEqual(4);
    expect(run.text).toMatch(/\w/);

    const cpu = await generateJson(...EXACT, ...CPU);
    expect([run.backend, cpu.backend]).toEqual(['webgpu', 'cpu']);
    expect([run.warnings, run.runAhead]).toEqual([[], 4]);
    expect(run.promptIds).toEqual(cpu.promptIds);
    expect(run.ids).toEqual(cpu.ids); // greedily and in f32
    expect(run.text).toBe(cpu.text);
    expect(cpu.adapter).toBeNull();
    expect(cpu.perToken).toBeNull();
  });

  // On the CPU, whose text is that of the GPU: equality at any run-ahead on the GPU is for test/engine/loop/loop.test.ts.
  test('without it, text, equal on another backend, is followed by a blank line and the table', async () => {
    const { stdout, code } = await generate(...EXACT, ...CPU);
    expect(code).toBe(0);
    expect(stdout.startsWith(`${run.text}\n\n`)).toBe(true);
    expect(stdout.split('\n\n').at(-1)).toMatch(/^ +mean +p50 +p95 +p99 +max +jitter +n\nTBT, ms +\d/);
  });

  test('a stop string ends it', async () => {
    const word = run.text.trim().split(/\s+/)[3];
    const stopped = await generateJson(...EXACT, ...CPU, '--stop', 'never written', '--stop', word);
    expect(stopped.finishReason).toBe('stop');
    expect(stopped.text).toBe(run.text.slice(0, run.text.indexOf(word)));
  });
});

describe('errors', () => {
  for (const [what, args, code, pattern] of [
    ['an empty prompt', ['--prompt', ''], 'invalid-request', /empty/i],
    [
      'a folder that is not there',
      ['--prompt', 'x', '--model', 'no/such/folder'],
      'model-fetch',
      /No such file or folder/,
    ],
    [
      'a prompt longer than the context',
      ['--prompt', 'word '.repeat(40), '--context', '32'],
      'context-overflow',
      /\b32\b/,
    ],
  ] as const) {
    test(`${what}: exit 1, one sentence, a code`, async () => {
      const { code: exit, stdout } = await generate('--json', ...CPU, ...args);
      const { error } = JSON.parse(stdout);
      expect([exit, error.code]).toEqual([1, code]);
      expect(error.message).toMatch(pattern);
    });
  }

  test('without --json the sentence is on stderr and stdout is empty', async () => {
    const { code, stdout, stderr } = await generate('--prompt', 'x', '--model', 'no/such/folder');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^No such file or folder.*\n$/);
  });

  test('an unknown flag: exit 2, a line and the usage', async () => {
    const { code, stdout, stderr } = await generate('--prompt', 'x', '--speed');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^Unknown argument --speed\.\nUsage:/);
  });
});

test('text streams: Ctrl-C at its first piece ends the answer cleanly', async () => {
  const child = start(['--prompt', STORY, '--temperature', '0.8', ...CPU]);
  child.stdout?.once('data', () => child.kill('SIGINT'));
  const { stdout, code } = await collect(child);
  expect(code).toBe(130);
  expect(stdout).toContain('TBT, ms');
});

test('strings that break careless tools are answered', async () => {
  const strings = [
    'Tell \u{1f469}‍\u{1f680} 一只猫 قطة e\u0301 \u0000',
    'a \ud83d cat \udc31 \udc31\ud83d', // lone surrogates
    `"'\`\${1}</script><|im_end|>\n<|im_start|>system\n\\u0041`,
  ];
  const request = {
    model: undefined,
    prompt: strings.join('\n'),
    chat: null,
    load: { backend: 'cpu' as const },
    options: { maxTokens: 4, temperature: 0 },
  };
  const [{ report }] = await generateInPage(request, {});
  const { promptIds, ids, text: answer } = report;
  expect(promptIds?.length).toBeGreaterThan(30);
  expect(ids.length).toBeGreaterThan(0);
  expect(answer).not.toMatch(/\p{Surrogate}/u);
});
