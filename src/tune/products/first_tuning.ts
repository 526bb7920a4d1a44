// The tuner's short cut for a load: a few candidates of each product whose parameters are not known on this GPU. They
// compile while the weights are on their way. What there is no time for keeps its default, from then on too.

import type { Gpu } from '../../gpu/device';
import type { Linear } from '../../kernels/linear/linear';
import type { ProductProfile } from '../../kernels/linear/product_profile';
import type { TurnTiming } from '../timing';
import { fewMatvecCandidates, fewTileCandidates } from './product_candidates';
import { ProductMeter } from './product_meter';
import {
  emptyProfile,
  groupsOf,
  keepIn,
  type NamedProduct,
  type Parameters,
  type ProductGroup,
  tuneGroup,
} from './products';

/** The longest that a load waits. A product under way may end a little later. */
const BUDGET_MS = 800;
const TIMING: TurnTiming = { passMs: 1, mostMs: 10, warmMs: 25 };
/** One step of a clock that browsers round to 65 microseconds is no gain. */
const MARGIN = 1.08;
/** Passes of each kernel while it is timed, and of the first before them. */
const PASSES = 4;
/** The news of a run's end come up to so late. */
const LATE_MS = 3;
/** Tokens of a prompt whose outputs are compared: a whole tile, and a part of one. */
const COMPARED_TOKENS = 96;
const later = (ms: number) => new Promise<false>((resolve) => setTimeout(resolve, ms, false));

const FEW = { matvec: fewMatvecCandidates, tiles: fewTileCandidates };
/** The matrices that take most of a prompt's time. */
const LARGE: readonly NamedProduct['name'][] = ['gate_up', 'down'];

interface Ways {
  /** A fused step runs the layers of a token. It has no head. */
  isFused: boolean;
  /** Long passes multiply on subgroup matrices. */
  onMatrices: boolean;
}

/** The products whose parameters a load looks for. */
export function tunedAtLoad(products: readonly NamedProduct[], { isFused, onMatrices }: Ways): readonly NamedProduct[] {
  // An output projection that merges the splits of attention takes the place of the one that does not.
  const merges = ({ input }: NamedProduct) => input.startsWith('parts');
  const merged = new Set(products.filter(merges).map(({ matrix }) => matrix));
  return products.filter((product) => {
    const { pass, name, matrix } = product;
    if (pass === 'prefill') return LARGE.includes(name) && !onMatrices;
    return name === 'head' || (!isFused && (merges(product) || !merged.has(matrix)));
  });
}

export class FirstTuning {
  /** The parameters that run untuned, of all products that were added. */
  readonly usual = emptyProfile();
  private readonly groups = new Map<string, ProductGroup & { compiled: Promise<boolean> }>();

  /** @param prefillTokens tokens of the prompt that is measured */
  constructor(
    private readonly gpu: Gpu,
    private readonly prefillTokens: number,
    private readonly known: ProductProfile | null,
  ) {}

  /** True if all parameters are known. */
  get isEmpty(): boolean {
    return this.groups.size === 0;
  }

  /** Begins to compile the candidates of products that are not known. */
  add(products: readonly NamedProduct[]): void {
    for (const group of groupsOf(this.gpu, products, this.prefillTokens, FEW)) {
      const { product, key, measured } = group;
      const place = `${product.pass} ${key}`;
      const known = product.pass === 'decode' ? this.known?.matvec : this.known?.tiles;
      if (this.groups.has(place) || (known && Object.hasOwn(known, key))) continue;
      const create = once(measured.create);
      const compiled = Promise.allSettled(group.candidates.map(create)).then(() => true);
      const comparedTokens = Math.min(measured.nTokens, COMPARED_TOKENS);
      this.groups.set(place, { ...group, measured: { ...measured, comparedTokens, create }, compiled });
      keepIn(this.usual, group, measured.usual);
    }
  }

  /**
   * The parameters that are faster than the usual ones. The weights are there; overwrites activations.
   * @throws the error of `throwIfStopped`; as `tune`
   */
  async run(throwIfStopped: () => void, budgetMs = BUDGET_MS): Promise<ProductProfile> {
    const { gpu } = this;
    const profile = emptyProfile();
    const deadline = performance.now() + budgetMs;
    const throwIfOver = () => {
      throwIfStopped();
      throwIfLate(deadline);
    };
    for (const group of [...this.groups.values()].sort((a, b) => weightsOf(b) - weightsOf(a))) {
      const isCompiled = await Promise.race([group.compiled, later(deadline - performance.now())]);
      throwIfStopped();
      if (!isCompiled) continue;
      try {
        const meter = new HurriedMeter(gpu, group.measured, throwIfOver, deadline);
        const { winner } = await tuneGroup(gpu, group, meter, { throwIfStopped: throwIfOver });
        if (winner && winner.candidate !== group.measured.usual) keepIn(profile, group, winner.candidate);
      } catch (error) {
        if (!(error instanceof OutOfTime)) throw error;
      }
    }
    return profile;
  }
}

/** The weights of a product in all layers. Products of more weights come first. */
function weightsOf({ product: { matrix }, measured: { layers } }: ProductGroup): number {
  return layers.length * matrix.rows * matrix.cols;
}

/** Gives up on candidates that cannot be timed before the deadline. */
class HurriedMeter extends ProductMeter<Parameters> {
  readonly margin = MARGIN;
  /** Milliseconds of the quickest run while outputs are compared. */
  private onceMs = Number.POSITIVE_INFINITY;

  constructor(
    gpu: Gpu,
    product: ProductGroup['measured'],
    throwIfOver: () => void,
    private readonly deadline: number,
  ) {
    super(gpu, product, throwIfOver, TIMING);
  }

  protected override async runOnce(kernel: Linear, nTokens: number): Promise<void> {
    const start = performance.now();
    await super.runOnce(kernel, nTokens);
    await this.gpu.workDone();
    this.onceMs = Math.min(this.onceMs, Math.max(0, performance.now() - start - LATE_MS));
  }

  override async time(kernels: readonly Linear[]): Promise<number[]> {
    const { nTokens, comparedTokens = nTokens, layers } = this.product;
    const onceMs = (this.onceMs * nTokens) / comparedTokens;
    const passMs = Math.max(onceMs, Math.min(TIMING.mostMs, layers.length * onceMs));
    throwIfLate(this.deadline - PASSES * (1 + kernels.length) * passMs);
    return super.time(kernels);
  }
}

class OutOfTime extends Error {}

function throwIfLate(deadline: number): void {
  if (performance.now() > deadline) throw new OutOfTime();
}

/** The same function for the same parameters, once. */
function once<Result>(create: (parameters: Parameters) => Promise<Result>) {
  const made = new Map<string, Promise<Result>>();
  return (parameters: Parameters): Promise<Result> => {
    const key = JSON.stringify(parameters);
    const known = made.get(key) ?? create(parameters);
    made.set(key, known);
    return known;
  };
}
