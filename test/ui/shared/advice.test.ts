// Advice for errors, and the texts of sizes and times.

import { expect, test } from 'vitest';
import {
  AttentionUnavailable,
  ChatTemplateError,
  ContextOverflowError,
  DeviceLostError,
  GpuMemoryError,
  InvalidRequestError,
  ModelFetchError,
  ModelFileError,
  NotFiniteError,
  UnsupportedModelError,
  WebGpuUnavailableError,
  WorkerError,
} from '../../../src/errors';
import { formatParameters, formatSize } from '../../../src/shared/format';
import { type LoadSettings, STANDARD_LOAD } from '../../../src/ui/settings/settings_fields';
import {
  adviseLoad,
  adviseRun,
  codeOf,
  inEachLanguage,
  isAbort,
  lostOffers,
  settingsAfter,
} from '../../../src/ui/shared/advice';
import { describeTimeLeft } from '../../../src/ui/shared/amounts';
import { importTranslation } from '../../../src/words/import_translation';
import { useLanguage } from '../../../src/words/language';

test('a prompt too long offers to make room, to start over or to edit it', () => {
  const advice = adviseRun(new ContextOverflowError(1200, 1024));
  expect(advice.what).toContain('1,200');
  expect(advice.offers).toEqual(['forget', 'new', 'edit']);
});

test('a template that fails offers to leave out the system prompt, where there is one', () => {
  const error = new ChatTemplateError('No system role.');
  expect(adviseRun(error, true).offers).toEqual(['no-system', 'edit']);
  expect(adviseRun(error).offers).toEqual(['edit']);
});

test('an error is known by its code, whichever script created it', () => {
  expect(codeOf(Object.assign(new Error('x'), { code: 'device-lost' }))).toBe('device-lost');
  expect(codeOf(new DOMException('x', 'AbortError'))).toBe('');
  expect(codeOf(new Error('x'))).toBe('');
  expect(codeOf('x')).toBe('');
});

test('a lost device offers to load the model again', () => {
  expect(adviseRun(new DeviceLostError('unknown')).offers[0]).toBe('reload');
});

test('an engine that was lost for good is offered what can work', () => {
  expect(lostOffers(new DeviceLostError('unknown'), 'webgpu')).toEqual(['reload', 'cpu']);
  expect(lostOffers(new WorkerError('It ended.'), 'webgpu')).toEqual(['reload']);
  expect(lostOffers(new WorkerError('It ended.'), 'cpu')).toEqual(['reload']);
  const program = Object.assign(new Error('It does not compile.'), { code: 'gpu-program', canRetry: false });
  expect(lostOffers(program, 'webgpu')).toEqual(['cpu']);
  expect(lostOffers(program, 'cpu')).toEqual(['reload']);
});

test('an error that would repeat offers to edit the message, not to retry', () => {
  expect(adviseRun(new NotFiniteError(12)).offers).toEqual(['edit']);
});

test('an unknown error still says what to do next', () => {
  expect(adviseRun('boom')).toEqual({
    what: 'boom',
    next: expect.stringContaining('Try again'),
    offers: ['retry', 'reload'],
  });
  expect(adviseRun(new Error('')).what).not.toBe('');
});

test('a missing model, a forced kernel and no WebGPU differ in what to do', () => {
  expect(adviseLoad(new ModelFetchError('x', 404, 'x answered 404.')).next).toContain('model file of your own');
  expect(adviseLoad(new AttentionUnavailable('eager', 'no GPU')).offers).toEqual(['auto-attention']);
  expect(adviseLoad(new WebGpuUnavailableError('no adapter')).offers).toContain('cpu');
});

test('a retry is offered only where the result may differ', () => {
  expect(adviseLoad(new ModelFetchError('x', 404, 'x answered 404.'))).toMatchObject({
    next: 'Open a model file of your own.',
    offers: [],
  });
  expect(adviseLoad(new ModelFetchError('x', 503, 'x answered 503.'))).toMatchObject({
    next: 'Try again, or open a model file of your own.',
    offers: ['retry'],
  });
  expect(adviseLoad(new UnsupportedModelError('x')).offers).toEqual([]);
  expect(adviseLoad(new InvalidRequestError('x'))).toMatchObject({
    next: expect.stringContaining('settings'),
    offers: [],
  });
  expect(adviseLoad(new WebGpuUnavailableError('no adapter')).offers).toEqual(['cpu']);
  expect(adviseLoad(new DeviceLostError('x')).offers).toEqual(['retry', 'cpu']);
  expect(adviseLoad(new WorkerError('x', { canRetry: false })).offers).toEqual([]);
  expect(adviseRun(new GpuMemoryError('The cache', 2, 1, 'Free some.')).offers).toEqual(['cpu']);
  expect(adviseRun(new GpuMemoryError('The cache', 2, null, 'Free some.')).offers).toEqual(['reload', 'cpu']);
});

test('an offer changes the one setting that it names', () => {
  const settings: LoadSettings = { ...STANDARD_LOAD, attention: 'eager', backend: 'webgpu' };
  expect(settingsAfter('auto-attention', settings)).toEqual({ ...settings, attention: 'auto' });
  expect(settingsAfter('cpu', settings)).toEqual({ ...settings, backend: 'cpu' });
  expect(settingsAfter('retry', settings)).toEqual(settings);
});

test('only an AbortError is an abort', () => {
  expect(isAbort(new DOMException('x', 'AbortError'))).toBe(true);
  expect(isAbort(new DOMException('x', 'TimeoutError'))).toBe(false);
  expect(isAbort(new Error('AbortError'))).toBe(false);
});

test('sizes, times and counts as text', () => {
  expect([0, 999, 1000, 123_456_789].map((bytes) => formatSize(bytes))).toEqual(['0 B', '999 B', '1.0 kB', '123 MB']);
  expect([15_191_712, 1_235_814_400, 260_032].map((n) => formatParameters(n))).toEqual([
    '15.2 million',
    '1.2 billion',
    '260 thousand',
  ]);
  expect([1, 61, 600, 9000].map(describeTimeLeft)).toEqual(['a second left', '61 s left', '10 min left', '2.5 h left']);
});

test('advice that is shown follows the language', async () => {
  const advice = inEachLanguage(() => adviseLoad(new ModelFileError('a.gguf', 'It is cut.')));
  const english = { ...advice };
  await useLanguage('de', importTranslation);
  expect(advice.what).toContain('„a.gguf“ ist kein Modell');
  expect(advice).toEqual(adviseLoad(new ModelFileError('a.gguf', 'It is cut.')));
  await useLanguage('en', importTranslation);
  expect({ ...advice }).toEqual(english);
});
