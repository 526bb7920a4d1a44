// The end of a pass over a text whose vector is asked for. Made by the first such text of a model.

import { createPool } from '../../kernels/elementwise/pool';
import type { LinearSources, Operation } from '../layers/linears';

type Sources = Pick<LinearSources, 'gpu' | 'config' | 'buffers' | 'weights'>;

/** pooled = n(x), of the last token or the sum of all. */
export async function createPooling({ gpu, config, buffers, weights }: Sources): Promise<Operation> {
  const { hiddenSize: cols, rmsNormEps: normEps, embedding } = config;
  const pool = await createPool(gpu, { cols, normEps, pooling: embedding.pooling });
  const group = pool.bind(buffers.x, weights.head.params, buffers.pooled);
  return { record: (list, nTokens) => pool.record(list, group, nTokens) };
}
