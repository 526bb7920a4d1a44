// `bench -- tune`: the engine's tuners at the shapes of known models: attention with the caches of all their layers, matrix
// products with synthetic weights.

import type { AttentionShape } from '../../src/attention/attention';
import type { TuneResult } from '../../src/attention/profile';
import { VivaceError } from '../../src/errors';
import { Llama } from '../../src/model/llama';
import { tuneAttention } from '../../src/tune/attention';
import type { ProductResult } from '../../src/tune/products';
import type { BenchResult, ShapeName, TuneTable } from '../report';
import { headShape, MODELS } from '../shapes.mjs';
import type { Bench } from './bench';
import { measureRoofline } from './roofline';
import { kvBytes, openStation } from './station';
import { checkFits, syntheticConfig } from './synthetic_config';
import { syntheticWeights } from './synthetic_weights';

/** Tokens of the prefill pass, as many as the engine gives to one pass at most. */
const SIZE = { maxTokens: 512, contextLength: 32768 };
const QUICK = { maxTokens: 16, contextLength: 128 };
const QUICK_LENGTHS = [128];
const STOPPED = 'Stopped: the fastest is not known.';
/** For the caches of all layers. */
const MOST_BYTES = 2e9;

/** What was found for the products of a shape, beside its attention. */
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
    const attention = await tuneShape(bench, name);
    tables.push({ ...attention, ...(await tuneProductsOf(bench, name)) });
  }
  return { suite: 'tune', kv, roofline, tables };
}

async function tuneShape(bench: Bench, name: ShapeName): Promise<TuneTable> {
  const { gpu } = bench;
  const { kv, quick } = bench.request;
  const shape: AttentionShape = { ...headShape(name), ...(quick ? QUICK : SIZE), kvType: kv };
  const layers = Math.max(1, Math.min(MODELS[name].nLayers, Math.floor(MOST_BYTES / kvBytes(shape))));
  const heard: TuneResult[] = [];
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

/** Of a whole model, since the weights of all its layers are what no cache holds. */
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
    const { results } = await llama.tuneProducts({
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
  const what = `${name} of ${nTokens} ${Object.values(parameters).join(' ')}`;
  return `${what}: ${ms === null ? refused : `${(1000 * ms).toFixed(2)} us`}`;
}

function describe({ pass, kvLen, combination, name, parameters, ms, refused }: TuneResult): string {
  const what = `${combination ? `${combination} ` : ''}${name} ${Object.values(parameters).join(' ')}`;
  return `${pass} ${kvLen}, ${what}: ${ms === null ? refused : `${ms.toFixed(4)} ms`}`;
}
