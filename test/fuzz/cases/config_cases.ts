// Configs of every architecture with changed keys, read up to the model's tensors.

import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/weights/tensors';
import type { GgufValue } from '../../../src/storage/formats/gguf';
import { openModel } from '../../../src/storage/model_file';
import type { ModelFiles } from '../../../src/storage/model_files';
import { openAsGguf } from '../../model/fixtures/architectures_gguf';
import { EDGE_LENGTHS } from '../edges';
import { FIXTURES } from '../fixtures';
import type { Loader } from '../loaders';
import type { Random } from '../random';
import { jsonBytes, readJson } from './json_cases';

const MODELS = await Promise.all(
  FIXTURES.map(async ({ name, files, configs }) => ({ name, files: await openModel(files), configs })),
);
/** One of each architecture, and one of each RoPE scaling in GGUF. */
const GGUFS = await Promise.all(
  MODELS.filter(isGguf).map(async ({ name, files }) => ({ name, files: await openAsGguf(files) })),
);

function isGguf({ name, files }: (typeof MODELS)[number]): boolean {
  return name !== 'llama_dynamic' && files.tensors.get('model.embed_tokens.weight')?.dtype === 'BF16';
}

/** Keys of some architecture that others lack. */
const MORE_KEYS = [
  'vocab_size',
  'expert_count',
  'rope.scaling.type',
  'rope.scaling.factor',
  'rope.scaling.attn_factor',
  'rope.freq_base_swa',
  'attention.scale',
  'attention.sliding_window',
  'attention.sliding_window_pattern',
  'attn_logit_softcapping',
  'final_logit_softcapping',
  'logit_scale',
];

interface JsonInput {
  kind: 'json';
  /** Name of a fixture. */
  model: string;
  file: Uint8Array;
}

interface GgufInput {
  kind: 'gguf';
  model: string;
  changes: [key: string, value: GgufValue][];
  /** Name of the missing tensor. */
  missing: string | null;
}

export const configLoader: Loader<JsonInput | GgufInput> = {
  name: 'config',
  makeInput: (random) => (random.chance(0.3) ? ggufInput(random) : jsonInput(random)),
  prepare(input) {
    const { files } = (input.kind === 'json' ? MODELS : GGUFS).find(({ name }) => name === input.model)!;
    if (input.kind === 'json') return () => resolve({ ...files, config: readJson(input.file) });
    const gguf = new Map<string, GgufValue>([...(files.gguf ?? []), ...input.changes]);
    const tensors = new Map(files.tensors);
    if (input.missing !== null) tensors.delete(input.missing);
    return () => resolve({ ...files, gguf, tensors });
  },
};

function jsonInput(random: Random): JsonInput {
  const { name, configs } = random.pick(MODELS);
  return { kind: 'json', model: name, file: jsonBytes(random, random.pick(configs), 0.6) };
}

function ggufInput(random: Random): GgufInput {
  const { name, files } = random.pick(GGUFS);
  const metadata = new Map<string, GgufValue>(files.gguf);
  const arch = metadata.get('general.architecture');
  const keys = [...metadata.keys(), ...MORE_KEYS.map((key) => `${arch}.${key}`)];
  const changes = Array.from({ length: 1 + random.int(2) }, (): [string, GgufValue] => [
    random.pick(keys),
    edgeValue(random),
  ]);
  const missing = random.chance(0.1) ? random.pick([...files.tensors.keys()]) : null;
  return { kind: 'gguf', model: name, changes, missing };
}

/** A value as the parser returns it. */
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
    'longrope',
    '',
    Int32Array.of(1, -1),
    [true, false, true, false],
    Float32Array.of(Number.NaN),
    ['a', 'b'],
    [1n, 2],
  ]);
}

function resolve(files: ModelFiles) {
  return resolveTensors(files, readConfig(files));
}
