// The tuner of products: measures candidates for each matrix shape of a model on this very GPU, with the model's own weights and
// buffers, each one verified before it is timed, and keeps the fastest.

import type { Gpu } from '../gpu/device';
import type { QkvShape } from '../kernels/linear/epilogues/qkv';
import type { Epilogue, LinearShape } from '../kernels/linear/linear';
import { createMatmulQ8, hasIntegers, type Tiles } from '../kernels/linear/matmul_q8';
import { createMatvec, type MatvecInput } from '../kernels/linear/matvec';
import type { MatvecParameters } from '../kernels/linear/matvec_plan';
import { type ProductProfile, type ProductResult, productKey } from '../kernels/linear/product_profile';
import type { WeightMatrix } from '../kernels/linear/weight_format';
import type { LayerWeights, ModelWeights } from '../model/weights';
import { isSoftware, matvecCandidates, tileCandidates } from './product_candidates';
import { type BoundProduct, type MeasuredProduct, ProductMeter, type ProductTiming } from './product_meter';
import type { Output } from './product_outputs';

export type { ProductProfile, ProductResult } from '../kernels/linear/product_profile';
export type { MatvecParameters, Tiles };

/** A product of a model as it was made: a matvec of decode, or a matmul of prefill on quantized activations. */
export interface TunableProduct extends BoundProduct {
  name: ProductResult['name'];
  pass: 'decode' | 'prefill';
  shape: LinearShape;
  epilogue: Epilogue;
  input: MatvecInput;
}

export interface TuneProductsOptions {
  /** After each shape, for each candidate, measured or refused. */
  onResult?: (result: ProductResult, done: number, total: number) => void;
  /** Asked before each candidate; true ends the tuning. */
  stopped?: () => boolean;
  /** What is tried, the default first. */
  candidates?: { matvec: typeof matvecCandidates; tiles: typeof tileCandidates };
  timing?: ProductTiming;
}

/** Faster by less is noise: what runs untuned is kept. */
const MARGIN = 1.02;

/** A product of a model before it is named. */
export type MadeProduct = Omit<TunableProduct, 'name'>;

const NAMES: Record<keyof LayerWeights, ProductResult['name']> = {
  qkv: 'qkv',
  o: 'o',
  gateUp: 'gate_up',
  down: 'down',
};

/** Named by their place in the model. */
export function namedProducts(made: readonly MadeProduct[], { layers }: ModelWeights): TunableProduct[] {
  const names = new Map<WeightMatrix, ProductResult['name']>();
  for (const layer of layers) {
    for (const [key, name] of Object.entries(NAMES)) names.set(layer[key as keyof LayerWeights].matrix, name);
  }
  return made.map((product) => ({ ...product, name: names.get(product.matrix) ?? 'head' }));
}

/** One shape with its candidates, and where the winner goes. */
interface Group {
  key: string;
  product: TunableProduct;
  measured: MeasuredProduct<MatvecParameters | Tiles>;
}

/** How many candidates there are: the total of a tuning's progress. */
export function countCandidates(
  gpu: Gpu,
  shape: QkvShape,
  products: readonly TunableProduct[],
  prefillTokens: number,
): number {
  return total(groupsOf(gpu, shape, products, prefillTokens));
}

function total(groups: readonly Group[]): number {
  return groups.reduce((sum, { measured }) => sum + measured.candidates.length, 0);
}

/**
 * Takes a second for each shape on a fast GPU; nothing else may use these buffers meanwhile. `prefillTokens`: of a chunk of a
 * prompt. Shapes for which there is no choice are left out.
 * @throws DOMException AbortError when stopped
 */
export async function tuneProducts(
  gpu: Gpu,
  shape: QkvShape,
  products: readonly TunableProduct[],
  prefillTokens: number,
  options: TuneProductsOptions = {},
): Promise<{ profile: ProductProfile; results: ProductResult[] }> {
  const throwIfStopped = () => {
    if (options.stopped?.()) throw new DOMException('The tuning was stopped.', 'AbortError');
  };
  const meter = new ProductMeter(gpu, throwIfStopped, options.timing);
  const groups = groupsOf(gpu, shape, products, prefillTokens, options.candidates);
  const tuned = { products: {} as Record<string, MatvecParameters>, tiles: {} as Record<string, Tiles> };
  const results: ProductResult[] = [];
  for (const { key, product, measured } of groups) {
    const found = await tuneGroup(meter, product, measured);
    const best = found.findIndex(({ fastest }) => fastest);
    if (best >= 0) {
      const winner = measured.candidates[best];
      if (product.pass === 'decode') tuned.products[key] = winner as MatvecParameters;
      else tuned.tiles[key] = winner as Tiles;
    }
    for (const result of found) {
      results.push(result);
      options.onResult?.({ ...result, fastest: false }, results.length, total(groups));
    }
    throwIfStopped();
  }
  return { profile: { ...tuned, tunedAt: new Date().toISOString() }, results };
}

async function tuneGroup(
  meter: ProductMeter,
  { name, shape: { rows, cols, format }, input }: TunableProduct,
  measured: Group['measured'],
): Promise<ProductResult[]> {
  const measurements = await meter.measure(measured);
  const results = measured.candidates.map((parameters, i): ProductResult => {
    const size = { rows, cols, format, input, nTokens: measured.nTokens };
    return {
      pass: 'product',
      name,
      ...size,
      parameters: { ...parameters },
      isDefault: i === 0,
      ...measurements[i],
      fastest: false,
    };
  });
  const ran = results.filter((result): result is ProductResult & { ms: number } => result.ms !== null);
  const [best] = ran.toSorted((a, b) => a.ms - b.ms);
  const usual = ran.find(({ isDefault }) => isDefault) ?? best;
  const kept = best && best.ms * MARGIN < usual.ms ? best : usual;
  if (kept) kept.fastest = true;
  return results;
}

const ORDER: readonly ProductResult['name'][] = ['qkv', 'o', 'gate_up', 'down', 'head'];

/** Decode first, then in the order of a pass. */
const placeOf = ({ pass, name }: TunableProduct): number =>
  (pass === 'decode' ? 0 : ORDER.length) + ORDER.indexOf(name);

/** The distinct shapes, those of decode first; for each, the products of all layers. */
function groupsOf(
  gpu: Gpu,
  qkv: QkvShape,
  products: readonly TunableProduct[],
  prefillTokens: number,
  tried = { matvec: matvecCandidates, tiles: tileCandidates },
): Group[] {
  const same = new Map<string, TunableProduct[]>();
  for (const product of products.toSorted((a, b) => placeOf(a) - placeOf(b))) {
    const key = `${product.pass} ${productKey(product.epilogue.label, product.shape, product.input)}`;
    same.set(key, [...(same.get(key) ?? []), product]);
  }
  return [...same.values()].flatMap((layers) => {
    const [product] = layers;
    const nTokens = product.pass === 'decode' ? 1 : prefillTokens;
    const { candidates, create } = variants(gpu, product, tried);
    if (candidates.length < 2) return [];
    const {
      shape: { rows, cols },
      input,
    } = product;
    const measured = { rows, cols, nTokens, input, layers, candidates, create };
    const outputs = outputsOf(product, nTokens, qkv);
    return [
      {
        key: productKey(product.epilogue.label, product.shape, product.input),
        product,
        measured: { ...measured, outputs },
      },
    ];
  });
}

function variants(
  gpu: Gpu,
  { pass, shape, epilogue, input }: TunableProduct,
  tried: Required<TuneProductsOptions>['candidates'],
): Pick<Group['measured'], 'candidates' | 'create'> {
  const { limits } = gpu;
  const { subgroupMinSize } = gpu.can;
  const software = gpu.isSoftware || isSoftware(subgroupMinSize);
  const { format } = shape;
  if (pass === 'prefill' && hasIntegers(format)) {
    return {
      candidates: tried.tiles(shape.rows, limits, software),
      create: (tiles) => createMatmulQ8(gpu, { ...shape, format }, epilogue, tiles as Tiles),
    };
  }
  const planned = { ...shape, input, finishRows: epilogue.finishRows ?? 2 };
  return {
    candidates: tried.matvec(planned, limits, subgroupMinSize, software),
    create: (given) => createMatvec(gpu, shape, epilogue, input, given as MatvecParameters),
  };
}

/** What the epilogue writes in a pass of nTokens at position 0. */
function outputsOf({ epilogue, shape: { rows }, buffers }: TunableProduct, nTokens: number, qkv: QkvShape): Output[] {
  const [, first, ...more] = buffers;
  const whole = (buffer: GPUBuffer, bytes: number, as: Output['as']): Output => ({
    ranges: [{ buffer, offset: 0, bytes }],
    as,
  });
  switch (epilogue.label) {
    case 'kernels/qkv': {
      const [q, k, v] = more;
      const { nHeads, nKvHeads, headDim, contextLength, kvType } = qkv;
      const elementBytes = kvType === 'f16' ? 2 : 4;
      const cache = (buffer: GPUBuffer): Output => ({
        ranges: Array.from({ length: nKvHeads }, (_, head) => ({
          buffer,
          offset: head * contextLength * headDim * elementBytes,
          bytes: nTokens * headDim * elementBytes,
        })),
        as: kvType,
      });
      return [whole(q, nTokens * nHeads * headDim * 4, 'f32'), cache(k), cache(v)];
    }
    case 'kernels/store':
      return [whole(first, nTokens * rows * 4, 'f32')];
    case 'kernels/residual':
      return [{ ...whole(first, nTokens * rows * 4, 'f32'), adds: true }];
    case 'kernels/gate_up_q8':
      return [whole(first, (rows / 2) * (1 + 4 / 32), 'q8')];
    case 'kernels/head':
      return [whole(first, rows * 4, 'f32'), ...more.map((maxima) => whole(maxima, Math.ceil(rows / 32) * 4, 'key'))];
    default: // gate_up
      return [whole(first, nTokens * (rows / 2) * 4, 'f32')];
  }
}
