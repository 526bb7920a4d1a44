// The arithmetic that the figures of a race decide for. Pure: equal figures, equal choice.

import type { ActivationType, Arithmetic } from '../../model/layers/arithmetic';
import type { PassRace, Race } from '../results';

/** A smaller difference is none. */
const TIE = 0.03;
/**
 * The fused step multiplies bytes alone, and saves about this much of a step on GPUs of few cores, more on large ones:
 * where it may run, plain products in f32 have to be faster by more.
 */
const FUSED_GAIN = 0.25;

/** Ties within the spread go to f32, which is exact; in decode to q8 where that allows the fused step. */
export function decideArithmetic({ decode, prefill }: Pick<Race, 'decode' | 'prefill'>, mayFuse: boolean): Arithmetic {
  return { decode: mayFuse ? fusable(decode) : faster(decode), prefill: faster(prefill) };
}

const tieOf = ({ q8, f32 }: PassRace) => Math.max(TIE, q8.spread, f32.spread);

function faster(race: PassRace): ActivationType {
  return race.f32.ms > race.q8.ms * (1 + tieOf(race)) ? 'q8' : 'f32';
}

function fusable(race: PassRace): ActivationType {
  return race.q8.ms > race.f32.ms * (1 + Math.max(FUSED_GAIN, tieOf(race))) ? 'f32' : 'q8';
}
