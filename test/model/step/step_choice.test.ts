// A step that was asked for by name is never replaced by the other one.

import { expect, test } from 'vitest';
import { checkStep, type StepChoice } from '../../../src/model/step/step_choice';

const plain: StepChoice = { name: 'plain', reason: 'the adapter has no subgroups', gain: null, giveUps: 0 };
const fused: StepChoice = { name: 'fused', reason: 'measured here', gain: 0.38, giveUps: 0 };

test('auto takes either, and a name itself', () => {
  for (const [asked, choice] of [
    ['auto', plain],
    ['auto', fused],
    ['plain', plain],
    ['fused', fused],
  ] as const)
    expect(() => checkStep(asked, choice)).not.toThrow();
});

test('another than the one asked for is refused with its reason and a remedy', () => {
  expect(() => checkStep('fused', plain)).toThrow(
    expect.objectContaining({
      code: 'invalid-request',
      option: 'step',
      message: 'Step "fused" cannot run here: the adapter has no subgroups. Choose step auto or plain.',
    }),
  );
  expect(() => checkStep('plain', fused)).toThrow('Choose step auto or fused.');
});
