// Errors and warnings in each language: a sentence for each code, with the numbers of the error, and nothing else of it.

import { afterEach, expect, test, vi } from 'vitest';
import {
  ContextOverflowError,
  GpuMemoryError,
  InvalidRequestError,
  ModelFetchError,
  ModelFileError,
  VivaceError,
} from '../../src/errors';
import { readRun } from '../../src/metrics/run/run_parse';
import { RemoteError } from '../../src/remote/remote_error';
import { parseGguf } from '../../src/storage/formats/gguf';
import { parseSafetensors } from '../../src/storage/formats/safetensors';
import { chooseGguf } from '../../src/storage/hub/hub';
import { openModel } from '../../src/storage/model_file';
import { blobSource } from '../../src/storage/source/blob_source';
import { checkFileSize } from '../../src/ui/conversation/conversation_file';
import { ConversationFileError } from '../../src/ui/conversation/conversation_parse';
import { errors as de } from '../../src/words/de/errors';
import { errors as en } from '../../src/words/en/errors';
import { sayError, sayWarning } from '../../src/words/error_words';
import { importTranslation } from '../../src/words/import_translation';
import { errors as ja } from '../../src/words/ja/errors';
import { useLanguage } from '../../src/words/language';
import { ramp, writeGguf } from '../storage/write_gguf';
import { writeSafetensors } from '../storage/write_safetensors';

afterEach(async () => {
  vi.unstubAllGlobals();
  await useLanguage('en', importTranslation);
});

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => Promise.reject(new Error('no failure')),
    (error: Error) => error,
  );

const FACTS = Object.fromEntries(
  [
    'name',
    'value',
    'promptTokens',
    'contextLength',
    'characters',
    'messageCharacters',
    'mostCharacters',
    'asked',
    'requestedBytes',
    'grantedBytes',
    'keptBytes',
    'conversation',
    'turn',
    'file',
    'host',
    'status',
    'chosen',
    'id',
    'vocabSize',
    'choices',
    'seconds',
  ].map((name) => [name, `<${name}>`]),
);

test.each([
  ['en', en],
  ['de', de],
  ['ja', ja],
])('%s: each sentence speaks with all facts and with none', (_, { errors, warnings }) => {
  for (const write of [...Object.values(errors), ...Object.values(warnings)]) {
    for (const facts of [FACTS, {}]) expect(write(facts)).toMatch(/^(?!.*(?:undefined|null|\[object)).*[.。]$/s);
  }
});

test('English is the error itself, unless there is a better sentence; German names its numbers and keeps it for the fold', async () => {
  const error = new ContextOverflowError(1200, 1024);
  const text = 'The conversation has 1,200 tokens, but the model’s memory holds 1,024.';
  expect(sayError(error)).toEqual({ text, detail: error.message });
  const broken = new ModelFileError('a.gguf', 'It is cut.');
  expect(sayError(broken)).toEqual({ text: broken.message, detail: '' });
  await useLanguage('de', importTranslation);
  expect(sayError(error)).toEqual({ text: expect.stringMatching(/1\.200.*1\.024/), detail: error.message });
  const long = new InvalidRequestError('The conversation has 5000023 characters.');
  Object.assign(long, { characters: 5_000_023, messageCharacters: 5_000_000, mostCharacters: 4_000_000 });
  expect(sayError(long).text).toMatch(/5\.000\.023.*5\.000\.000.*4\.000\.000/);
  expect(sayError(new GpuMemoryError('Weights', 2_500_000_000, null, 'Close pages.')).text).toContain('2,5 GB');
  expect(sayError(broken).text).toContain('„a.gguf“');
});

test('a model file that ends too early is told in plain words; the tensor and the bytes are in the fold', async () => {
  const bytes = writeGguf({ tensors: [{ name: 'blk.0.ffn_up.weight', ne: [4, 2], data: ramp(32) }] });
  const whole = writeSafetensors({ w: { dtype: 'F32', shape: [2, 2], data: ramp(16) } });
  const errors = await Promise.all([
    ...[bytes.length - 8, 20].map((n) => failure(parseGguf(blobSource('a.gguf', new Blob([bytes.slice(0, n)]))))),
    failure(parseSafetensors(blobSource('a.safetensors', new Blob([whole.slice(0, -8)])))),
  ]);
  for (const error of errors) {
    const { text, detail } = sayError(error);
    expect(text).toMatch(/^“a\.(gguf|safetensors)” is incomplete\. Download it again\.$/);
    expect(detail).toBe(error.message);
  }
  await useLanguage('de', importTranslation);
  expect(sayError(errors[0]).text).toContain('„a.gguf“ ist unvollständig');
  await useLanguage('ja', importTranslation);
  expect(sayError(errors[0]).text).toContain('「a.gguf」は不完全です');
});

test('a folder or a repository with several models is not called damaged', async () => {
  const address = { owner: 'o', name: 'r', revision: 'main', file: '', quantization: '' };
  const files = ['Q2_K', 'Q3_K', 'IQ3_XS'].map((label) => ({ path: `m-${label}.gguf`, size: 1, sha256: null }));
  const choose = (quantization: string) => async () => chooseGguf(files, { ...address, quantization }, {});
  const several = await failure(openModel([new File([], 'a.gguf'), new File([], 'b.gguf')]));
  const [some, none] = [await failure(choose('')()), await failure(choose('Q9_K')())];
  await useLanguage('de', importTranslation);
  expect(sayError(several).text).toMatch(/enthält 2 Modelle\. Wählen Sie eines davon\.$/);
  expect(sayError(some).text).toMatch(/enthält 3 Modelle/);
  expect(sayError(some).detail).toContain('Q2_K (0 MB)');
  expect(sayError(none).text).toMatch(/hat diese Quantisierung nicht/);
  await useLanguage('ja', importTranslation);
  expect(sayError(several).text).toContain('2 個のモデルがあります');
  expect(sayError(some).text).toContain('3 個のモデルがあります');
  expect(sayError(none).text).toContain('量子化は「o/r」にありません');
});

test.each(['de', 'ja'])('%s says every number that the English sentence has', async (language) => {
  await useLanguage(language, importTranslation);
  const file = (facts: Record<string, number>) => new ConversationFileError('No.', undefined, facts);
  const numbers: [string, RegExp[]][] = [
    [sayError(new ContextOverflowError(120, 102)).text, [/120/, /102/]],
    [sayError(new GpuMemoryError('Weights', 2.5e8, 1.25e8, 'Close pages.')).text, [/250 MB/, /125 MB/]],
    [sayError(file({ conversation: 7, turn: 23 })).text, [/7/, /23/]],
    [sayError(new RemoteError('server-silent', 'No.', { seconds: 60 })).text, [/60/]],
    [sayError(new RemoteError('server-busy', 'No.', { status: 429 })).text, [/429/]],
    [sayError(new RemoteError('server-unreachable', 'No.', { host: 'gpu.example:8000' })).text, [/gpu\.example:8000/]],
    [sayError(tooLarge()).text, [/61 MB/, /\d+ MB.*\d+ MB/]],
    [
      sayWarning({ code: 'cache-full', message: '', facts: { requestedBytes: 3e8, keptBytes: 4e7 } }).text,
      [/300 MB/, /40 MB/],
    ],
    [
      sayWarning({ code: 'context-shortened', message: '', facts: { contextLength: 512, asked: 900 } }).text,
      [/512/, /900/],
    ],
  ];
  for (const [text, all] of numbers) for (const each of all) expect(text).toMatch(each);
});

/** The error for a file of 61 MB. */
function tooLarge(): unknown {
  try {
    return checkFileSize(61e6);
  } catch (error) {
    return error;
  }
}

test('a failed download names the host alone, and what the server said', async () => {
  await useLanguage('ja', importTranslation);
  const url = 'https://hub.example.com/secret?token=1';
  const say = (status: number | null) => sayError(new ModelFetchError(url, status, 'No.')).text;
  expect(say(null)).toContain('hub.example.com に接続できません');
  expect(say(404)).toContain('アドレス');
  expect(say(500)).toContain('500');
  expect(say(200)).toContain('モデルはありません');
  expect(say(null) + say(404) + say(500)).not.toContain('token');
});

test('in English, too, a failed download begins with what happened; files of this machine say it themselves', () => {
  const error = new ModelFetchError('https://hub.example.com/a/long/address.gguf', null, 'https://hub… (CORS)');
  const text = 'No model came from hub.example.com. Check address and connection.';
  expect(sayError(error)).toEqual({ text, detail: error.message });
  const folder = new ModelFetchError('stories', null, 'stories holds no config.json.');
  expect(sayError(folder)).toEqual({ text: folder.message, detail: '' });
});

test('a folder of this machine is no unreachable server', async () => {
  await useLanguage('de', importTranslation);
  expect(sayError(new ModelFetchError('stories', null, 'stories holds no config.json.')).text).not.toMatch(
    /erreichbar/,
  );
});

test.each([
  ['en', /newer version of Vivace\. Reload the page/],
  ['de', /neueren Version\. Laden Sie die Seite neu/],
  ['ja', /新しいバージョン.*再読み込み/],
])('%s: a run of a newer version is told from what is no run', async (language, remedy) => {
  await useLanguage(language, importTranslation);
  expect(saidOf(() => readRun('{"format":"vivace-run","version":2}'))).toMatch(remedy);
  expect(saidOf(() => readRun('{}'))).not.toMatch(remedy);
});

/** The sentence for what is thrown. */
function saidOf(work: () => unknown): string {
  try {
    return `nothing: ${work()}`;
  } catch (error) {
    return sayError(error).text;
  }
}

test('a warning has its own sentence, in English, too, where a person reads that better', async () => {
  const warning = { code: 'webgpu-unavailable', message: 'WebGPU cannot be used here: no, or the cpu backend.' };
  expect(sayWarning(warning).text).toMatch(/^No GPU available/);
  const shortened = { code: 'context-shortened', message: 'x', facts: { contextLength: 4096, asked: 8192 } };
  expect(sayWarning(shortened).text).toBe('x');
  await useLanguage('de', importTranslation);
  expect(sayWarning(shortened).text).toBe('Der Kontext hat 4.096 statt 8.192 Tokens.');
});

test('a page that is not secure is told what WebGPU needs, in each language', async () => {
  const warning = { code: 'webgpu-unavailable', message: 'WebGPU cannot be used here: this page is not secure.' };
  vi.stubGlobal('isSecureContext', false);
  for (const language of ['de', 'ja', 'en'] as const) {
    await useLanguage(language, importTranslation);
    expect(sayWarning(warning).text).toMatch(/WebGPU.*https.*localhost.*CPU/);
    expect(sayWarning(warning).text).not.toMatch(/acceleration|beschleunigung|アクセラレーション/);
    if (language !== 'en') expect(sayError(new VivaceError(warning.code, 'x')).text).toMatch(/WebGPU.*localhost/);
  }
  vi.stubGlobal('isSecureContext', true);
  expect(sayWarning(warning).text).toMatch(/hardware acceleration/);
});

test('what is unknown, hostile or no error at all is shown as it came, and is cut', async () => {
  await useLanguage('de', importTranslation);
  expect(sayError('boom')).toEqual({ text: 'boom', detail: '' });
  expect(sayError(null).text).toBe('');
  expect(sayError(new VivaceError('constructor', 'Odd.')).text).toBe('Odd.');
  expect(sayError(new ModelFileError('x'.repeat(500), 'Odd.')).text.length).toBeLessThan(150);
});
