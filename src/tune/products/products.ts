// The tuner of matrix products: the fastest parameters for each matrix shape of a model, measured with the model's own
// weights and buffers.

import type { Gpu } from '../../gpu/device';
import type { MadeLinear } from '../../kernels/linear/create_linear';
import { ownRows } from '../../kernels/linear/linear';
import type { Tiles } from '../../kernels/linear/matmul_plan';
import { createTiledMatmul, hasIntegers } from '../../kernels/linear/matmul_q8';
import { createMatvec } from '../../kernels/linear/matvec';
import type { MatvecParameters } from '../../kernels/linear/matvec_plan';
import { type ProductProfile, productKey } from '../../kernels/linear/product_profile';
import type { WeightMatrix } from '../../kernels/linear/weight_format';
import type { LayerWeights, ModelWeights } from '../../model/weights/weights';
import type { ProductResult } from '../results';
import type { TurnTiming } from '../timing';
import { type Tried, tune, type Watch } from '../tuner';
import { isSoftware, matvecCandidates, tileCandidates } from './product_candidates';
import { type MeasuredProduct, ProductMeter } from './product_meter';

/** A product of a model, named by its place in a layer. */
export interface NamedProduct extends MadeLinear {
  name: ProductResult['name'];
}

/** The first candidate is the default. */
export interface CandidateMakers {
  matvec: typeof matvecCandidates;
  tiles: typeof tileCandidates;
}

export interface TuneProductsOptions {
  /** Called for each candidate of a shape, measured or refused, when all of the shape are. */
  onResult?: (result: ProductResult, done: number, total: number) => void;
  /** Called before each candidate; true ends the tuning. */
  stopped?: () => boolean;
  candidates?: CandidateMakers;
  timing?: TurnTiming;
}

const NAMES: Record<keyof LayerWeights, ProductResult['name']> = {
  qkv: 'qkv',
  o: 'o',
  gateUp: 'gate_up',
  down: 'down',
};

/** The products with the names of their matrices. */
export function namedProducts(linears: readonly MadeLinear[], { layers }: ModelWeights): NamedProduct[] {
  const names = new Map<WeightMatrix, ProductResult['name']>();
  for (const layer of layers) {
    for (const [key, name] of Object.entries(NAMES)) names.set(layer[key as keyof LayerWeights].matrix, name);
  }
  return linears.map((linear) => ({ ...linear, name: names.get(linear.matrix) ?? 'head' }));
}

export type Parameters = MatvecParameters | Tiles;

/** One shape with its candidates, the default first. */
export interface ProductGroup {
  /** The key of its parameters in a profile. */
  key: string;
  product: NamedProduct;
  candidates: readonly Parameters[];
  measured: MeasuredProduct<Parameters>;
}

/** The number of candidates: the total of a tuning's progress. */
export function countCandidates(gpu: Gpu, products: readonly NamedProduct[], prefillTokens: number): number {
  return total(groupsOf(gpu, products, prefillTokens));
}

function total(groups: readonly ProductGroup[]): number {
  return groups.reduce((sum, { candidates }) => sum + candidates.length, 0);
}

/**
 * Takes a second for each shape on a fast GPU. Nothing else may use these buffers meanwhile. Shapes without choice are
 * left out. `prefillTokens`: tokens of the prompt that is measured.
 * @throws DOMException AbortError when stopped
 */
export async function tuneProducts(
  gpu: Gpu,
  products: readonly NamedProduct[],
  prefillTokens: number,
  options: TuneProductsOptions = {},
): Promise<{ profile: ProductProfile; results: ProductResult[] }> {
  const throwIfStopped = () => {
    if (options.stopped?.()) throw new DOMException('The tuning was stopped.', 'AbortError');
  };
  const groups = groupsOf(gpu, products, prefillTokens, options.candidates);
  const profile = emptyProfile();
  const results: ProductResult[] = [];
  let done = 0;
  for (const group of groups) {
    const onTried = (tried: Tried<Parameters>) => options.onResult?.(resultOf(group, tried), ++done, total(groups));
    const meter = new ProductMeter(gpu, group.measured, throwIfStopped, options.timing);
    const { tried, winner } = await tuneGroup(gpu, group, meter, { onTried, throwIfStopped });
    if (winner) keepIn(profile, group, winner.candidate);
    results.push(...tried.map((each) => resultOf(group, each, each === winner)));
    throwIfStopped();
  }
  return { profile, results };
}

/** The candidates of one shape, measured by `meter`, and the fastest. @throws as `tune` */
export function tuneGroup(
  gpu: Gpu,
  { candidates, measured }: ProductGroup,
  meter: ProductMeter<Parameters>,
  watch: Watch<Parameters>,
) {
  const search = {
    candidates: () => [candidates],
    usual: measured.usual,
    keyOf: (candidate: Parameters) => JSON.stringify(candidate),
  };
  return tune(gpu, search, meter, watch);
}

/** A profile that grows. */
interface GrowingProfile extends ProductProfile {
  matvec: Record<string, MatvecParameters>;
  tiles: Record<string, Tiles>;
}

export const emptyProfile = (): GrowingProfile => ({ matvec: {}, tiles: {} });

export function keepIn(profile: GrowingProfile, { key, product }: ProductGroup, winner: Parameters): void {
  if (product.pass === 'decode') profile.matvec[key] = winner as MatvecParameters;
  else profile.tiles[key] = winner as Tiles;
}

function resultOf(
  { product: { name, shape, input }, measured: { nTokens, usual } }: ProductGroup,
  { candidate, ms, refused }: Tried<Parameters>,
  fastest = false,
): ProductResult {
  const { rows, cols, format } = shape;
  const size = { rows, cols, format, input, nTokens };
  const isDefault = candidate === usual;
  return { pass: 'product', name, ...size, parameters: { ...candidate }, isDefault, ms, refused, fastest };
}

const ORDER: readonly ProductResult['name'][] = ['qkv', 'o', 'gate_up', 'down', 'head'];

/** Decode first, then in the order of a pass. */
const placeOf = ({ pass, name }: NamedProduct): number => (pass === 'decode' ? 0 : ORDER.length) + ORDER.indexOf(name);

const ALL: CandidateMakers = { matvec: matvecCandidates, tiles: tileCandidates };

/**
 * The distinct shapes, those of decode first, each with the products of all layers. Shapes without choice are left out.
 */
export function groupsOf(
  gpu: Gpu,
  products: readonly NamedProduct[],
  prefillTokens: number,
  tried: CandidateMakers = ALL,
): ProductGroup[] {
  const same = new Map<string, NamedProduct[]>();
  for (const product of products.toSorted((a, b) => placeOf(a) - placeOf(b))) {
    const key = `${product.pass} ${productKey(product.epilogue.label, product.shape, product.input)}`;
    same.set(key, [...(same.get(key) ?? []), product]);
  }
  return [...same.values()].flatMap((layers): ProductGroup[] => {
    const [product] = layers;
    const { candidates, create } = variants(gpu, product, tried);
    if (candidates.length < 2) return [];
    const nTokens = product.pass === 'decode' ? 1 : prefillTokens;
    const key = productKey(product.epilogue.label, product.shape, product.input);
    return [{ key, product, candidates, measured: { nTokens, layers, usual: candidates[0], create } }];
  });
}

function variants(
  gpu: Gpu,
  { pass, shape, epilogue, input }: MadeLinear,
  tried: CandidateMakers,
): Pick<ProductGroup, 'candidates'> & Pick<ProductGroup['measured'], 'create'> {
  const { limits } = gpu;
  const { subgroupMinSize } = gpu.can;
  const software = gpu.isSoftware || isSoftware(subgroupMinSize);
  const { format } = shape;
  if (pass === 'prefill' && hasIntegers(format)) {
    return {
      candidates: tried.tiles({ ...shape, rows: ownRows(shape), format }, limits, software),
      create: (tiles) => createTiledMatmul(gpu, { ...shape, format }, epilogue, tiles as Tiles),
    };
  }
  const planned = { ...shape, input, finishRows: epilogue.finishRows ?? 2 };
  return {
    candidates: tried.matvec(planned, limits, subgroupMinSize, software),
    create: (given) => createMatvec(gpu, shape, epilogue, input, given as MatvecParameters),
  };
}
