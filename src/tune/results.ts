// Results of the tuner: a candidate of attention or of a matrix product, measured or refused. Types only.

import type { AttentionName } from '../attention/attention';
import type { LinearPass } from '../kernels/linear/create_linear';
import type { MatvecInput } from '../kernels/linear/matvec';
import type { WeightFormat } from '../kernels/linear/weight_format';
import type { ActivationType } from '../model/layers/arithmetic';
import type { RaceShape } from './race/race_shape';

/** Fields of every result. */
interface Result {
  parameters: Record<string, number>;
  /** Tokens of the pass. */
  nTokens: number;
  /** Milliseconds of one layer; null when refused. */
  ms: number | null;
  /** The reason of a refusal; null when measured. */
  refused: string | null;
  /** True for the candidate that the tuner keeps. Set when all candidates of the pass or shape are measured. */
  fastest: boolean;
}

export interface AttentionResult extends Result {
  pass: 'prefill' | 'decode';
  /** A to H: the combinations that every prefill begins with. Null for later candidates, and for decode. */
  combination: string | null;
  name: AttentionName;
  /** Keys that the last token of the pass sees. */
  kvLen: number;
}

export interface ProductResult extends Result {
  pass: 'product';
  name: 'qkv' | 'o' | 'gate_up' | 'down' | 'head';
  rows: number;
  cols: number;
  format: WeightFormat;
  input: MatvecInput;
  /** True for the parameters that run untuned. */
  isDefault: boolean;
}

/** Milliseconds of one run of a product: the median of the rounds, and their spread as a share of it. */
export interface RaceTime {
  ms: number;
  spread: number;
}

/** A product with signed bytes against the same in f32. */
export type PassRace = Readonly<Record<ActivationType, RaceTime>>;

/** The race of both kinds of pass, over a matrix of a model's format and width. */
export interface Race extends RaceShape, Readonly<Record<LinearPass, PassRace>> {
  clock: 'gpu' | 'cpu';
}
