// `bench -- race`: what a load would measure on this GPU, signed bytes against f32, at the shapes of known models. A
// person with another GPU runs it and sends what it prints.

import { VivaceError } from '../../../src/errors';
import { shaderHash } from '../../../src/tune/profile/shader_hash';
import { decideArithmetic } from '../../../src/tune/race/arithmetic_choice';
import { race } from '../../../src/tune/race/race';
import { raceShape } from '../../../src/tune/race/race_shape';
import type { BenchResult, RaceRow, ShapeName } from '../../report';
import type { Bench } from '../bench';
import { matrixShapes, syntheticConfig } from '../synthetic/synthetic_config';

/** A GPU in software compiles for seconds, where a load would go on without a result. */
const LIMIT_MS = 120_000;
const CONTEXT = 512;
/** Tests bring no version. */
const VERSION: string = import.meta.env?.VIVACE_VERSION ?? 'sources';

export async function raceSuite(bench: Bench): Promise<BenchResult> {
  const { quant, shapes, rounds } = bench.request;
  const rows: RaceRow[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const shape of shapes) {
      if (bench.stopped) break;
      const row = await raceShapeOf(bench, shape);
      rows.push(row);
      const said = row.race ? `${row.ms.toFixed(0)} ms` : (row.refused ?? '');
      bench.say({ text: `${shape}: ${said}`, done: rows.length, total: rounds * shapes.length });
    }
  }
  return { suite: 'race', version: VERSION, shaders: shaderHash(), quant, rows };
}

async function raceShapeOf(bench: Bench, shape: ShapeName): Promise<RaceRow> {
  const empty: RaceRow = { shape, race: null, plain: null, fused: null, ms: 0, refused: null };
  const raced = raceShape(layersOf(bench, shape));
  if (!raced) return { ...empty, refused: 'These matrices have no integers.' };
  const started = performance.now();
  try {
    const result = await race(bench.gpu, raced, bench.signal, LIMIT_MS);
    const ms = performance.now() - started;
    if (typeof result === 'string') return { ...empty, ms, refused: result };
    return {
      ...empty,
      race: result,
      plain: decideArithmetic(result, false),
      fused: decideArithmetic(result, true),
      ms,
    };
  } catch (error) {
    if (!bench.stopped && !(error instanceof VivaceError)) throw error;
    await bench.renew();
    return { ...empty, refused: (error as Error).message };
  }
}

/** The layers of a model by their shapes: a race reads no more of them. */
function layersOf({ request }: Bench, shape: ShapeName) {
  const config = syntheticConfig(shape, CONTEXT);
  const [qkv, o, gateUp, down] = matrixShapes(config).map(({ rows, cols }) => ({
    matrix: { rows, cols, parts: [{ format: request.quant, row0: 0, rows }] },
  }));
  return Array.from({ length: config.nLayers }, () => ({ qkv, o, gateUp, down }));
}
