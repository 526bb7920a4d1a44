// Products of integers whose sums begin where x has left a start, once for all rows that are multiplied with it.

import start from '../../../shaders/linear/weights/start.wgsl?raw';
import started from '../../../shaders/linear/weights/started.wgsl?raw';
import startedAffine from '../../../shaders/linear/weights/started_affine.wgsl?raw';
import startedQ4 from '../../../shaders/linear/weights/started_q4.wgsl?raw';
import type { IntegerFormat } from './weight_format';

/** The start of a sum. */
export const START = start;

/** What a format adds to its own shaders for such a product. */
export const STARTED: Readonly<Record<IntegerFormat, string>> = {
  q4: startedQ4,
  q8: started,
  q4_1: startedAffine,
  q5_1: startedAffine,
  q4_k: startedAffine,
  q5_k: startedAffine,
  q6_k: started,
};
