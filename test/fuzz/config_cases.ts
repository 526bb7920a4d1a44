// The configs of every architecture with changed keys, read up to the tensors of the model.

import { readConfig } from '../../src/model/config';
import { resolveTensors } from '../../src/model/tensors';
import type { GgufValue } from '../../src/storage/gguf';
import { type ModelFiles, openModel } from '../../src/storage/model_file';
import { EDGE_LENGTHS } from './edges';
import { FIXTURES } from './fixtures';
import { jsonBytes, readJson } from './json_cases';
import type { Loader } from './loaders';
import type { Random } from './random';
import { MODEL_METADATA, TINY_GGUF } from './tiny_model';

const MODELS = await Promise.all(
  FIXTURES.map(async ({ files, configs }) => ({ files: await openModel(files), configs })),
);
const GGUF = await openModel(TINY_GGUF);

export const configLoader: Loader = {
  name: 'config',
  makeCase: (random) => (random.chance(0.3) ? ggufCase(random) : jsonCase(random)),
};

function jsonCase(random: Random) {
  const { files, configs } = random.pick(MODELS);
  const file = jsonBytes(random, random.pick(configs), 0.6);
  return () => resolve({ ...files, config: readJson(file) });
}

function ggufCase(random: Random) {
  const metadata = new Map<string, GgufValue>(MODEL_METADATA);
  const keys = [...metadata.keys(), 'llama.vocab_size', 'llama.rope.scaling.type', 'llama.expert_count'];
  for (let n = 1 + random.int(2); n > 0; n--) metadata.set(random.pick(keys), edgeValue(random));
  return () => resolve({ ...GGUF, gguf: metadata });
}

/** Values as the parser gives them. */
function edgeValue(random: Random): GgufValue {
  const edge = random.pick(EDGE_LENGTHS);
  const numbers = [
    0,
    -1,
    0.5,
    1,
    3,
    32,
    64,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e308,
    5e-324,
    Number(edge & 0xffffffffn),
  ];
  return random.pick<GgufValue>([
    ...numbers,
    edge,
    true,
    'linear',
    'yarn',
    '',
    Int32Array.of(1, -1),
    Float32Array.of(Number.NaN),
    ['a', 'b'],
    [1n, 2],
  ]);
}

function resolve(files: ModelFiles) {
  return resolveTensors(files, readConfig(files));
}
