// The decode step of a run in words, for panel and terminal. Pure.

import { quoted, type Reason, why } from '../shared/why';
import type { StepChoice } from './protocol';

type Step = Omit<StepChoice, 'reason'>;

/** The running step, its speed beside the other one, and its give-ups: "fused, 38 % faster than plain here". */
export function stepText(step: Step): string {
  return stepParts(step).join(', ');
}

/** The same in parts, each of which can be translated. */
export function stepParts({ name, gain, giveUps }: Step): Reason[] {
  const parts = [quoted(name)];
  if (gain !== null) parts.push(speedText(name, gain));
  if (giveUps > 0) parts.push(giveUps === 1 ? why`gave up once` : why`gave up ${giveUps} times`);
  return parts;
}

function speedText(name: Step['name'], gain: number): Reason {
  const share = Math.abs(gain);
  const percent = (100 * share).toFixed(share < 0.1 ? 1 : 0);
  if (name === 'fused')
    return gain < 0 ? why`${percent}% slower than plain here` : why`${percent}% faster than plain here`;
  return gain < 0 ? why`fused is ${percent}% slower here` : why`fused is ${percent}% faster here`;
}
