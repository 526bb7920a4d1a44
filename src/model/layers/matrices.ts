// Long passes on subgroup matrices: whether they run so, and why, and the operations of such a linear. Loaded where a
// browser grants them.

import type { Gpu } from '../../gpu/device';
import { createQuantizeWide } from '../../kernels/elementwise/quantize_wide';
import { createMatmulMatrices, planMatrices } from '../../kernels/linear/matmul_matrices';
import type { Arithmetic, MatrixChoice } from './arithmetic';
import type { LongLinear, LongPasses, Operation } from './linears';
import { faultOfMatrices } from './matrices_check';

/** Passes of fewer tokens run on matmul_q8, which cuts them into smaller tiles. */
const LEAST_TOKENS = 257;

export class MatrixPasses implements LongPasses {
  private isUsed = false;

  private constructor(
    private readonly gpu: Gpu,
    private readonly from: number,
    readonly fault: string | null,
  ) {}

  /**
   * @param from the fewest tokens of a pass on matrices: benches measure short passes on them, or none
   * @param check tests pass their own
   */
  static async create(
    gpu: Gpu,
    { prefill }: Arithmetic,
    from = LEAST_TOKENS,
    check: typeof faultOfMatrices = faultOfMatrices,
  ): Promise<MatrixPasses> {
    if (prefill === 'f32') return new MatrixPasses(gpu, from, 'prompts run in f32');
    return new MatrixPasses(gpu, from, from === Number.POSITIVE_INFINITY ? 'turned off by name' : await check(gpu));
  }

  get choice(): MatrixChoice {
    const { fault, from } = this;
    if (fault !== null) return { used: false, reason: fault };
    if (!this.isUsed) return { used: false, reason: 'no matrix of this model has a shape and a format for them' };
    return { used: true, reason: `passes of ${from} tokens and more; the products equal those of the plain kernel` };
  }

  /** `plain` for short passes and the same linear on matrices for long ones; null where a run does not fit. */
  async besides(plain: Operation, { weights, runs, epilogue, from, xq, own }: LongLinear): Promise<Operation | null> {
    const { gpu } = this;
    if (this.fault !== null) return null;
    const groups = runs.map(({ shape }) => planMatrices(gpu.limits, shape)).filter((planned) => planned !== null);
    if (groups.length < runs.length) return null;
    this.isUsed = true;
    const { matrix, params } = weights;
    const quantizing = createQuantizeWide(gpu, { cols: matrix.cols, normEps: runs[0].shape.normEps });
    const linears = runs.map(async ({ run, shape }, i): Promise<Operation> => {
      const kernel = await createMatmulMatrices(gpu, shape, epilogue, groups[i]);
      const bound = kernel.bind(run, xq, params, ...own);
      return { record: (list, nTokens) => kernel.record(list, bound, nTokens) };
    });
    const [quantize, ...products] = await Promise.all([quantizing, ...linears]);
    const group = quantize.bind(from, params, xq);
    return {
      record: (list, nTokens) => {
        if (nTokens < this.from) return plain.record(list, nTokens);
        quantize.record(list, group, nTokens);
        for (const product of products) product.record(list, nTokens);
      },
    };
  }
}
