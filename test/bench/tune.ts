// `bench -- tune`: the engine's tuner at the head shapes of known models, with the caches of all their layers.

import type { AttentionShape } from '../../src/attention/attention';
import type { TuneResult } from '../../src/attention/profile';
import { tuneAttention } from '../../src/attention/tune';
import { VivaceError } from '../../src/errors';
import { headShape, MODELS } from '../../tools/lib/bench_shapes.mjs';
import type { Bench } from './bench';
import type { BenchResult, ShapeName, TuneTable } from './report';
import { measureRoofline } from './roofline';
import { kvBytes, openStation } from './station';

/** Tokens of the prefill pass, as many as the engine gives to one pass at most. */
const SIZE = { maxTokens: 512, contextLength: 32768 };
const QUICK = { maxTokens: 16, contextLength: 128 };
const QUICK_LENGTHS = [128];
/** For the caches of all layers. */
const MOST_BYTES = 2e9;

export async function tuneSuite(bench: Bench): Promise<BenchResult> {
  const { kv, shapes } = bench.request;
  const roofline = await measureRoofline(bench);
  const tables: TuneTable[] = [];
  for (const name of shapes) {
    if (bench.stopped) break;
    tables.push(await tuneShape(bench, name));
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
    const buffers = { q, out, k: pairs.map(({ k }) => k), v: pairs.map(({ v }) => v) };
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
    if (bench.stopped) return { shape: name, layers, results: heard, error: 'Stopped: the fastest is not known.' };
    if (!(error instanceof VivaceError)) throw error;
    if (gpu.failure) await bench.renew();
    return { shape: name, layers, results: heard, error: error.message };
  }
}

function describe({ pass, kvLen, combination, name, parameters, ms, refused }: TuneResult): string {
  const what = `${combination ? `${combination} ` : ''}${name} ${Object.values(parameters).join(' ')}`;
  return `${pass} ${kvLen}, ${what}: ${ms === null ? refused : `${ms.toFixed(4)} ms`}`;
}
