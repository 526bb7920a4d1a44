// GGUF files with false counts, lengths, types, alignments and offsets, and edits of their bytes.

import { parseGguf } from '../../../src/storage/formats/gguf';
import type { TensorInfo } from '../../../src/storage/formats/tensor';
import { blobSource } from '../../../src/storage/source/blob_source';
import { type Bytes, type GgufSpec, type GgufTensor, ramp, T, value, writeGguf } from '../../storage/write_gguf';
import { BAD_UTF8, EDGE_LENGTHS, NASTY_NAMES } from '../edges';
import type { Loader } from '../loaders';
import type { Random } from '../random';
import type { GgufKeys } from './gguf_values';
import { mutateBytes } from './mutate_bytes';

const KEYS: GgufKeys = [
  ['general.architecture', value.string('llama')],
  ['general.alignment', value.u32(32)],
  ['tokenizer.ggml.tokens', value.strings(['<s>', 'Ġa', 'b', '\u2581the', ''])],
  ['tokenizer.ggml.scores', value.array(T.f32, 3, ramp(12))],
  ['flags', value.array(T.bool, 3, [0, 1, 1])],
  ['large', value.array(T.u64, 2, ramp(16))],
  ['split.count', value.u16(1)],
  ['llama.rope.freq_base', value.f64(1e6)],
];
const TENSORS: GgufTensor[] = [
  { name: 'a', ne: [4, 2], data: ramp(32) },
  { name: 'b', ne: [32, 2], type: 8, data: ramp(68) },
  { name: 'c.weight', ne: [32], type: 2, data: ramp(18) },
  { name: 'd', ne: [3, 1, 2], type: 1, data: ramp(12) },
];
const SPEC: GgufSpec = { keys: KEYS, tensors: TENSORS };
const VALID = writeGguf(SPEC);

export const ggufLoader: Loader<Uint8Array<ArrayBuffer>> = {
  name: 'gguf',
  makeInput(random) {
    const lying = random.chance(0.7) ? writeGguf(withLies(random, SPEC)) : VALID;
    return lying === VALID || random.chance(0.15) ? mutateBytes(random, lying) : lying;
  },
  prepare(file) {
    return async () => readAll((await parseGguf(blobSource('x.gguf', new Blob([file])))).tensors);
  },
};

/** Reads accepted tensors to the last byte. */
export async function readAll(tensors: Iterable<TensorInfo>): Promise<void> {
  for (const tensor of tensors) await tensor.read(0, tensor.byteLength);
}

/** A file with one to three false fields. Most files stay valid otherwise. */
export function withLies(random: Random, spec: GgufSpec): GgufSpec {
  const lying: GgufSpec = { ...spec, keys: [...(spec.keys ?? [])], tensors: [...(spec.tensors ?? [])] };
  for (let n = 1 + random.int(2); n > 0; n--) {
    const lie = random.pick([lieInKey, lieInKey, lieInTensor, lieInTensor, lieInHeader]);
    lie(random, lying);
  }
  return lying;
}

function lieInHeader(random: Random, spec: GgufSpec): void {
  const near = (n: number) => random.pick<number | bigint>([n - 1, n + 1, random.pick(EDGE_LENGTHS)]);
  switch (random.int(5)) {
    case 0:
      spec.version = random.pick([0, 1, 2, 2, 2, 4, 0x03000000, 2 ** 32 - 1]);
      break;
    case 1:
      spec.nTensors = near(spec.tensors?.length ?? 0);
      break;
    case 2:
      spec.nKeys = near(spec.keys?.length ?? 0);
      break;
    case 3:
      spec.alignment = random.pick([1, 8, 16, 64, 4096]);
      break;
    default:
      addKey(
        spec,
        'general.alignment',
        random.pick([value.u32(random.pick([0, 1, 8, 31, 2 ** 20, 2 ** 31])), edgeOf(random)]),
      );
  }
}

function lieInKey(random: Random, spec: GgufSpec): void {
  const at = random.int(spec.keys?.length ?? 0);
  const [key, write] = spec.keys?.[at] ?? ['', value.u8(0)];
  switch (random.int(5)) {
    case 0:
      addKey(spec, random.pick<string | Uint8Array>([...NASTY_NAMES, ...BAD_UTF8, 'x'.repeat(65_537), key]), write);
      break;
    case 1:
      spec.keys?.splice(at, 1);
      break;
    case 2:
      addKey(
        spec,
        random.pick(['split.count', 'split.no', 'split.tensors.count', 'llama.expert_count']),
        edgeOf(random),
      );
      break;
    case 3:
      addKey(spec, `k${random.int(9)}`, edgeOf(random));
      break;
    default:
      spec.keys?.splice(at, 1, [key, edgeOf(random)]);
  }
}

function addKey(spec: GgufSpec, key: string | Uint8Array, write: (out: Bytes) => void): void {
  const known = spec.keys?.findIndex(([name]) => name === key) ?? -1;
  if (known >= 0 && key !== 'split.count') spec.keys?.splice(known, 1, [key, write]);
  else spec.keys?.push([key, write]);
}

/** An edge value of any type, or one with a false length or count. */
function edgeOf(random: Random): (out: Bytes) => void {
  const edge = random.pick(EDGE_LENGTHS);
  const type = random.int(14);
  switch (random.int(7)) {
    case 0:
      return value.u64(edge);
    case 1:
      return value.u32(Number(edge & 0xffffffffn));
    case 2:
      return random.pick([value.f32, value.f64])(
        random.pick([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e308, 5e-324]),
      );
    case 3:
      return (out) => out.u32(T.string).u64(edge).raw(ramp(40));
    case 4:
      return value.array(type, edge, ramp(40));
    case 5:
      return value.array(T.string, 3, ramp(random.int(40)).fill(0));
    default:
      return random.pick([
        value.bool(random.int(256)),
        value.string(random.pick(NASTY_NAMES)),
        value.string(random.pick(BAD_UTF8)),
      ]);
  }
}

function lieInTensor(random: Random, spec: GgufSpec): void {
  const at = random.int(spec.tensors?.length ?? 0);
  const tensor = spec.tensors?.[at];
  if (!tensor) return;
  const edge = random.pick(EDGE_LENGTHS);
  const lies: Partial<GgufTensor>[] = [
    {
      name: random.pick<string | Uint8Array>([
        ...NASTY_NAMES,
        ...BAD_UTF8,
        'x'.repeat(64),
        spec.tensors?.[0]?.name ?? '',
      ]),
    },
    { ne: [...tensor.ne].fill(edge, random.int(tensor.ne.length)) },
    { ne: [edge, random.pick(EDGE_LENGTHS)] },
    { ne: random.pick([[], [1, 1, 1, 1, 1], [2 ** 32, 2 ** 32], [1], [0], tensor.ne.toReversed()]) },
    { type: random.pick([random.int(45), 2 ** 31, 2 ** 32 - 1, Number(edge & 0xffffffffn)]) },
    { offset: edge },
    { offset: 32 * random.int(8) },
    { offset: random.pick([edge & ~31n, 2n ** 53n - 64n, 2n ** 64n - 32n]) },
    { data: ramp(random.int(200)) },
  ];
  const changed = { ...tensor, ...random.pick(lies) };
  if (random.chance(0.1)) spec.tensors?.push(changed);
  else spec.tensors?.splice(at, 1, changed);
}
