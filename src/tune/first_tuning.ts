// The tuner's short cut for a load: a few candidates of each product whose parameters are not known on this GPU. They
// compile while the weights are on their way. What there is no time for keeps its default, from then on too.

import type { Gpu } from '../gpu/device';
import type { Linear } from '../kernels/linear/linear';
import type { ProductProfile } from '../kernels/linear/product_profile';
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
import type { TurnTiming } from './timing';

/** The longest that a load waits. A group under way may end a little later. */
const BUDGET_MS = 800;
const TIMING: TurnTiming = { passMs: 1, mostMs: 10, warmMs: 25 };
/** Runs of each kernel, and of the first before them, where a pass has time for one run alone. */
const ROUNDS = 4;
/** The news of a run's end come up to so late. */
const LATE_MS = 3;
/** Tokens of a prompt whose outputs are compared: a whole tile, and a part of one. */
const COMPARED_TOKENS = 96;
const later = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

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
  private isChanged = false;
  private readonly groups = new Map<string, ProductGroup & { compiled: Promise<unknown> }>();

  /** @param prefillTokens tokens of a chunk of a prompt */
  constructor(
    private readonly gpu: Gpu,
    private readonly prefillTokens: number,
    private readonly known: ProductProfile | null,
  ) {}

  /** True if all parameters are known. */
  get isEmpty(): boolean {
    return this.groups.size === 0;
  }

  /** True while all products keep their defaults. */
  get isUsual(): boolean {
    return !this.isChanged;
  }

  /** Begins to compile the candidates of products that are not known. */
  add(products: readonly NamedProduct[]): void {
    for (const group of groupsOf(this.gpu, products, this.prefillTokens, FEW)) {
      const { product, key, measured } = group;
      const place = `${product.pass} ${key}`;
      const known = product.pass === 'decode' ? this.known?.matvec : this.known?.tiles;
      if (this.groups.has(place) || (known && Object.hasOwn(known, key))) continue;
      const create = once(measured.create);
      const compiled = Promise.allSettled(group.candidates.map(create));
      const comparedTokens = Math.min(measured.nTokens, COMPARED_TOKENS);
      this.groups.set(place, { ...group, measured: { ...measured, comparedTokens, create }, compiled });
    }
  }

  /**
   * The parameters of all products that were added. The weights are there; overwrites activations.
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
      keepIn(profile, group, group.measured.usual);
      try {
        await Promise.race([group.compiled, later(deadline - performance.now())]);
        const meter = new HurriedMeter(gpu, group.measured, throwIfOver, deadline);
        const { winner } = await tuneGroup(gpu, group, meter, { throwIfStopped: throwIfOver });
        if (!winner || winner.candidate === group.measured.usual) continue;
        keepIn(profile, group, winner.candidate);
        this.isChanged = true;
      } catch (error) {
        if (!(error instanceof OutOfTime)) throw error;
      }
    }
    return profile;
  }
}

/** The weights of a product in all layers. What takes longest comes first. */
function weightsOf({ product: { matrix }, measured: { layers } }: ProductGroup): number {
  return layers.length * matrix.rows * matrix.cols;
}

/** Gives up on candidates that cannot be timed before the deadline. */
class HurriedMeter extends ProductMeter<Parameters> {
  constructor(
    private readonly device: Gpu,
    private readonly measured: ProductGroup['measured'],
    throwIfStopped: () => void,
    private readonly deadline: number,
  ) {
    super(device, measured, throwIfStopped, TIMING);
  }

  override async time(kernels: readonly Linear[]): Promise<number[]> {
    const start = performance.now();
    await this.runOnce(kernels[0], this.measured.nTokens);
    await this.device.device.queue.onSubmittedWorkDone();
    const onceMs = performance.now() - start - LATE_MS;
    throwIfLate(this.deadline - ROUNDS * (1 + kernels.length) * onceMs);
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
