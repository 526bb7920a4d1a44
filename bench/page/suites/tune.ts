// `bench -- tune`: the engine's tuner at the shapes of known models: attention on the caches of all layers, matrix
// products on synthetic weights.

import type { AttentionShape } from '../../../src/attention/attention';
import { VivaceError } from '../../../src/errors';
import { MANY_TOKENS } from '../../../src/kernels/linear/matmul_plan';
import { Llama } from '../../../src/model/llama';
import { tuneAttention } from '../../../src/tune/attention/attention';
import { namedProducts, tuneProducts } from '../../../src/tune/products/products';
import type { AttentionResult, ProductResult } from '../../../src/tune/results';
import type { BenchResult, ShapeName, TuneTable } from '../../report';
import { headShape, MODELS } from '../../shapes';
import { parameterText } from '../../terminal/tables/grid';
import type { Bench } from '../bench';
import { measureRoofline } from '../measure/roofline';
import { kvBytes, openStation } from '../measure/station';
import { checkFits, syntheticConfig } from '../synthetic/synthetic_config';
import { syntheticWeights } from '../synthetic/synthetic_weights';

/** The engine's tuner measures a prompt of the same length. */
const SIZE = { maxTokens: MANY_TOKENS, contextLength: 32768 };
const QUICK = { maxTokens: 16, contextLength: 128 };
const QUICK_LENGTHS = [128];
const STOPPED = 'Stopped: the fastest is not known.';
/** The most bytes of the caches of all layers. */
const MOST_BYTES = 2e9;

/** The results of a shape: attention and products. */
export interface ProductsTable extends TuneTable {
  products: ProductResult[];
  productsError: string | null;
}

export async function tuneSuite(bench: Bench): Promise<BenchResult> {
  const { kv, shapes } = bench.request;
  const roofline = await measureRoofline(bench);
  const tables: ProductsTable[] = [];
  for (const name of shapes) {
    if (bench.stopped) break;
    const { only } = bench.request;
    const attention =
      only === 'products' ? { shape: name, layers: 0, results: [], error: null } : await tuneShape(bench, name);
    const products = only === 'attention' ? { products: [], productsError: null } : await tuneProductsOf(bench, name);
    tables.push({ ...attention, ...products });
  }
  return { suite: 'tune', kv, roofline, tables };
}

async function tuneShape(bench: Bench, name: ShapeName): Promise<TuneTable> {
  const { gpu } = bench;
  const { kv, quick } = bench.request;
  const shape: AttentionShape = { ...headShape(name), ...(quick ? QUICK : SIZE), kvType: kv };
  const layers = Math.max(1, Math.min(MODELS[name].nLayers, Math.floor(MOST_BYTES / kvBytes(shape))));
  const heard: AttentionResult[] = [];
  try {
    const { q, out, pairs, destroy } = await openStation(gpu, shape, shape.maxTokens, layers);
    const windows = pairs.map(() => null);
    const buffers = { q, out, k: pairs.map(({ k }) => k), v: pairs.map(({ v }) => v), windows };
    const { results } = await tuneAttention(gpu, shape, buffers, {
      stopped: () => bench.stopped,
      kvLens: quick ? QUICK_LENGTHS : undefined,
      onResult(result, done, total) {
        heard.push(result);
        bench.say({ text: `${name}, ${describe(result)}`, done, total });
      },
    }).finally(destroy);
    return { shape: name, layers, results, error: null };
  } catch (error) {
    if (bench.stopped) return { shape: name, layers, results: heard, error: STOPPED };
    if (!(error instanceof VivaceError)) throw error;
    if (gpu.failure) await bench.renew();
    return { shape: name, layers, results: heard, error: error.message };
  }
}

/** Tunes the products of a whole model: no cache of the GPU holds the weights of all its layers. */
async function tuneProductsOf(
  bench: Bench,
  name: ShapeName,
): Promise<Pick<ProductsTable, 'products' | 'productsError'>> {
  const { gpu } = bench;
  const { quant, kv: kvType, activations, quick } = bench.request;
  const { contextLength } = quick ? QUICK : { contextLength: SIZE.maxTokens };
  const products: ProductResult[] = [];
  let productsError: string | null = null;
  try {
    if (bench.stopped) throw new VivaceError('abort', STOPPED);
    const config = syntheticConfig(name, contextLength);
    checkFits(config, quant, kvType, contextLength, gpu.bindingLimit);
    const weights = await syntheticWeights(gpu, config, quant);
    const llama = await Llama.create(gpu, config, weights, { contextLength, kvType, attention: 'auto', activations });
    llama.start(weights);
    const { linears, prefillTokens } = llama.tunable;
    const { results } = await tuneProducts(gpu, namedProducts(linears, weights), prefillTokens, {
      stopped: () => bench.stopped,
      onResult(result, done, total) {
        products.push(result);
        bench.say({ text: `${name}, ${describeProduct(result)}`, done, total });
      },
    });
    products.splice(0, products.length, ...results); // with the winners
  } catch (error) {
    if (!bench.stopped && !(error instanceof VivaceError)) throw error;
    productsError = bench.stopped ? STOPPED : (error as VivaceError).message;
  }
  await bench.renew(); // with all weights: the next model needs the memory
  return { products, productsError };
}

function describeProduct({ name, nTokens, parameters, ms, refused }: ProductResult): string {
  const what = `${name} of ${nTokens}, ${parameterText(parameters)}`;
  return `${what}: ${ms === null ? refused : `${(1000 * ms).toFixed(2)} us`}`;
}

function describe({ pass, kvLen, combination, name, parameters, ms, refused }: AttentionResult): string {
  const what = `${combination ? `${combination} ` : ''}${name} ${Object.values(parameters).join(' ')}`;
  return `${pass} ${kvLen}, ${what}: ${ms === null ? refused : `${ms.toFixed(4)} ms`}`;
}
