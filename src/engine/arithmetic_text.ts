// The arithmetic of a model in words, for panel and terminal. Pure.

import type { EngineInfo } from './protocol';

/** "q8" for every pass, or "q8, prefill f32". */
export function arithmeticText({ activations, arithmetic }: Pick<EngineInfo, 'activations' | 'arithmetic'>): string {
  if (!arithmetic || arithmetic.decode === arithmetic.prefill) return activations;
  return `${arithmetic.decode}, prefill ${arithmetic.prefill}`;
}
