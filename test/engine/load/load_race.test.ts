// Loads that race, on a device that passes for hardware: weights are read meanwhile, the model runs as decided, and
// a cancel or a lost device ends the load. The race itself is made up.

import { afterEach, expect, test, vi } from 'vitest';
import { loadModel } from '../../../src/engine/load/load';
import { settle } from '../../../src/engine/load/settle';
import { DeviceLostError, InvalidRequestError } from '../../../src/errors';
import { Gpu } from '../../../src/gpu/device';
import { Llama } from '../../../src/model/llama';
import { race } from '../../../src/tune/race/race';
import { requestGpu } from '../../gpu/test_device';
import { droppedFolder } from '../../model/fixtures/files';
import { byteLevelJson } from '../../text/tiny_vocabulary';
import { TINY } from '../doubles/loop_session';

vi.mock('../../../src/tune/race/race', () => ({ race: vi.fn() }));
vi.mock('../../../src/engine/load/settle', () => ({ settle: vi.fn() }));
afterEach(() => vi.restoreAllMocks());

const SHAPE = { format: 'q8', cols: 32, copies: 2 } as const;
const times = (q8: number, f32: number) => ({ q8: { ms: q8, spread: 0.01 }, f32: { ms: f32, spread: 0.01 } });

async function load(signal = new AbortController().signal, activations?: 'f32', isSoftware = false) {
  const gpu = await requestGpu({ without: ['subgroups'] }); // without them kernels compile faster
  const adapter: Gpu = Object.create(gpu, { isSoftware: { value: isSoftware } });
  vi.spyOn(Gpu, 'request').mockResolvedValue(adapter);
  const files = droppedFolder(new URL(`../../fixtures/llama/${TINY}`, import.meta.url).pathname);
  files.push(new File([JSON.stringify(byteLevelJson())], 'tokenizer.json'));
  const options = { contextLength: 64, quantize: 'q8', attention: 'fused_decode', activations } as const;
  return loadModel(files, options, () => {}, signal);
}

test.each([
  ['as it was faster', { decode: times(1, 2), prefill: times(4, 1) }, { decode: 'q8', prefill: 'f32', cause: 'raced' }],
  ['a tie', { decode: times(1, 1.02), prefill: times(1, 1) }, { decode: 'f32', prefill: 'f32', cause: 'raced' }],
  ['no result', 'prefill took no time', { decode: 'q8', prefill: 'q8', cause: 'failed' }],
] as const)('the model is made in the arithmetic of the race: %s', async (_name, result, choice) => {
  vi.mocked(race).mockImplementation(async (_gpu, shape) => {
    expect(shape).toMatchObject(SHAPE);
    return typeof result === 'string' ? result : { ...shape, clock: 'gpu', ...result };
  });
  const create = vi.spyOn(Llama, 'create').mockRejectedValue(new InvalidRequestError('Enough.')); // compiles nothing
  await expect(load()).rejects.toThrow('Enough.');
  expect(create.mock.calls.map(([, , , { activations }]) => activations)).toEqual([expect.objectContaining(choice)]);
});

test('a cancel in the middle of a race ends the load at once', async () => {
  const canceling = new AbortController();
  vi.mocked(race).mockImplementation(async (_gpu, _shape, signal) => {
    canceling.abort(new DOMException('Loading was canceled.', 'AbortError'));
    signal?.throwIfAborted();
    return '';
  });
  await expect(load(canceling.signal)).rejects.toMatchObject({ name: 'AbortError' });
});

test('a device that is lost in a race is the error of the load', async () => {
  vi.mocked(race).mockImplementation(async (gpu) => {
    gpu.fail(new DeviceLostError('gone'));
    throw gpu.failure;
  });
  await expect(load()).rejects.toMatchObject({ code: 'device-lost' });
});

test.each([
  [false, 1],
  [true, 0],
])('on a GPU whose being in software is %s, a load settles %i times, once the weights are there', async (is, times) => {
  const start = vi.spyOn(Llama.prototype, 'start');
  const end = vi.fn(async () => expect(start).toHaveBeenCalledTimes(1));
  vi.mocked(settle).mockReset().mockReturnValue(end);
  const { info } = await load(undefined, 'f32', is);
  expect([vi.mocked(settle).mock.calls.length, end.mock.calls.length]).toEqual([times, times]);
  expect(info.step.name).toBe('plain');
});
