// The launch of a fused step: what an earlier load measured, else what this GPU is seen to do.

import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { createDecodeStep } from '../../../src/model/step/decode_step';
import type { StepAsked, TunedStep } from '../../../src/model/step/step_choice';
import { openModel } from '../../../src/storage/model_file';
import { testGpu } from '../../gpu/test_device';
import { modelFile, SHAPE } from '../fixtures/tiny_gguf';
import { fusedSources } from './fused_run';

const TUNED: TunedStep = {
  name: 'fused',
  reason: 'measured here',
  gain: 0.38,
  groups: 4,
  threads: 64,
  spins: 4096,
  lanesFrom: 64,
  until: 64,
};

/** A load on an adapter that does not say that it computes on the CPU, with what an earlier load measured. */
async function load(step: StepAsked, tunedStep?: TunedStep, isSoftware = false) {
  const gpu = await testGpu();
  const { sources } = await fusedSources(gpu, await openModel(modelFile({ format: 'q8' }, SHAPE)), {
    contextLength: 32,
  });
  const hardware = Object.create(gpu, { isSoftware: { value: isSoftware } });
  const { pipelines, dispatches } = gpu.counters;
  const made = await createDecodeStep({ ...sources, gpu: hardware }, { step, tunedStep, attention: 'auto' });
  const { counters } = gpu;
  return { made, compiled: counters.pipelines - pipelines, dispatched: counters.dispatches - dispatches };
}

test('a step that was slower in an earlier load is not compiled, and says what was measured', async () => {
  const { made, compiled } = await load('auto', { ...TUNED, name: 'plain', reason: 'it was slower', gain: -0.2 });
  expect([made.fused, compiled]).toEqual([null, 0]);
  expect(made.choice).toEqual({ name: 'plain', reason: 'it was slower', gain: -0.2, giveUps: 0 });
});

test('the launch of an earlier load is taken over without a measurement', async () => {
  const { made, dispatched } = await load('auto', TUNED);
  expect([made.launch, dispatched]).toEqual([{ groups: 4, threads: 64 }, 0]);
});

test('by name it is compiled, even if it was slower', async () => {
  const { made } = await load('fused', { ...TUNED, name: 'plain' });
  expect(made.launch).toEqual({ groups: 4, threads: 64 });
  expect(made.choice.name).toBe('fused');
});

test('a stored launch that cannot run is not taken', async () => {
  const { made } = await load('fused', { ...TUNED, threads: 63 }, true);
  expect(made.launch).toEqual({ groups: 2, threads: 64 }); // of an adapter that computes on the CPU
});

test('without an earlier load the workgroups that run at once decide, or there are too few of them', async () => {
  const { made, dispatched } = await load('auto');
  expect(dispatched).toBeGreaterThan(0);
  if (made.launch) expect(made.launch.groups).toBeLessThanOrEqual(availableParallelism());
  else expect(made.choice.reason).toMatch(/^\d+ workgroups of 256 threads ran at once here, /);
});
