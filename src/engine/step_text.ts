// The decode step of a run in words, for panel and terminal. Pure.

import type { StepChoice } from './protocol';

/** The running step, its speed beside the other one, and its give-ups: "fused, 38 % faster than plain here". */
export function stepText({ name, gain, giveUps }: Omit<StepChoice, 'reason'>): string {
  const parts: string[] = [name];
  if (gain !== null)
    parts.push(name === 'fused' ? `${speedText(gain)} than plain here` : `fused is ${speedText(gain)} here`);
  if (giveUps > 0) parts.push(`gave up ${giveUps === 1 ? 'once' : `${giveUps} times`}`);
  return parts.join(', ');
}

function speedText(gain: number): string {
  const share = Math.abs(gain);
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} % ${gain < 0 ? 'slower' : 'faster'}`;
}
