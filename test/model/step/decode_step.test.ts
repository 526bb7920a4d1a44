// Which layers run a token: by its position, and by the decision of the load.

import { describe, expect, test } from 'vitest';
import { DecodeStep, type StepDecision } from '../../../src/model/step/decode_step';
import type { FusedLayers, FusedStep } from '../../../src/model/step/fused_step';
import { why } from '../../../src/shared/why';

const layers = (): FusedLayers => ({ record: () => {} });
const FUSED = { tiles: layers(), lanes: layers(), reset: () => {} };
const DECISION: StepDecision = { name: 'fused', reason: 'a test', gain: 0.3, spins: 9, lanesFrom: 100, until: 200 };

function decided(change: Partial<StepDecision> = {}, fused: Partial<FusedStep> = FUSED): DecodeStep {
  const step = new DecodeStep(fused as FusedStep, why`not measured yet`);
  step.decide({ ...DECISION, ...change });
  return step;
}

describe('the layers at a position', () => {
  test('tiles, from lanesFrom on lanes, from until on those of a plain step', () => {
    const step = decided();
    expect(step.at(0)).toBe(FUSED.tiles);
    expect(step.at(99)).toBe(FUSED.tiles);
    expect(step.at(100)).toBe(FUSED.lanes);
    expect(step.at(199)).toBe(FUSED.lanes);
    expect(step.at(200)).toBeNull();
  });

  test('tiles where this context has no lanes, though an earlier load took them', () => {
    expect(decided({}, { ...FUSED, lanes: null }).at(150)).toBe(FUSED.tiles);
  });

  test('those of a plain step where it was decided for, or before a decision', () => {
    expect(decided({ name: 'plain' }).at(0)).toBeNull();
    expect(new DecodeStep(FUSED as unknown as FusedStep, why`not measured yet`).at(0)).toBeNull();
  });

  test('a step by lanes that gave up runs again as a plain step', () => {
    const step = decided();
    expect(step.gaveUp(150)).toMatch(/at position 150.*1 of 3/);
    expect(step.at(150)).toBeNull();
    expect(step.at(151)).toBe(FUSED.lanes);
  });
});
