// Models of sizes that need padding: corners of the tensors of a fixture, whose values are random anyway.

import { openModel } from '../../src/storage/model_file';
import { type SafeTensor, writeSafetensors } from '../storage/write_safetensors';
import { droppedFolder } from './files';

const ROOT = new URL('../fixtures/architectures/', import.meta.url).pathname;
const BF16_BYTES = 2;

/** Sizes by their names in config.json. */
export interface OddSizes {
  hidden_size: number;
  intermediate_size: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  head_dim: number;
}

/** The fixture of that name, whose tensors are BF16, cut down to these sizes. */
export async function cutFixture(name: string, sizes: OddSizes): ReturnType<typeof openModel> {
  const whole = await openModel(droppedFolder(ROOT + name));
  const { hidden_size: hidden, intermediate_size: intermediate, head_dim: headDim } = sizes;
  const [q, kv] = [sizes.num_attention_heads * headDim, sizes.num_key_value_heads * headDim];
  const vocab = Number(whole.config?.vocab_size);
  /** Elements of a norm of q or k: those of a head, or of all heads. */
  const oneHead = name !== 'olmo2';
  const shapes: [RegExp, number[]][] = [
    [/(embed_tokens|lm_head)\.weight$/, [vocab, hidden]],
    [/q_proj\.weight$/, [q, hidden]],
    [/[kv]_proj\.weight$/, [kv, hidden]],
    [/o_proj\.weight$/, [hidden, q]],
    [/(gate|up)_proj\.weight$/, [intermediate, hidden]],
    [/down_proj\.weight$/, [hidden, intermediate]],
    [/q_norm\.weight$/, [oneHead ? headDim : q]],
    [/k_norm\.weight$/, [oneHead ? headDim : kv]],
    [/norm\.weight$/, [hidden]],
  ];
  const tensors: Record<string, SafeTensor> = {};
  for (const { name, shape: from, read, byteLength } of whole.tensors.values()) {
    const shape = shapes.find(([pattern]) => pattern.test(name))![1];
    if (shape.some((size, i) => size > from[i])) throw new RangeError(`${name} has no corner of ${shape.join(' x ')}`);
    const data = corner(await read(0, byteLength), from, shape);
    tensors[name] = { dtype: 'BF16', shape, data };
  }
  const config = JSON.stringify({ ...whole.config, ...sizes });
  return openModel([new File([config], 'config.json'), new File([writeSafetensors(tensors)], 'model.safetensors')]);
}

function corner(bytes: Uint8Array, from: readonly number[], to: readonly number[]): Uint8Array {
  const [rows, cols, width] = to.length === 1 ? [1, to[0], from[0]] : [to[0], to[1], from[1]];
  const cut = new Uint8Array(rows * cols * BF16_BYTES);
  for (let row = 0; row < rows; row++) {
    const at = row * width * BF16_BYTES;
    cut.set(bytes.subarray(at, at + cols * BF16_BYTES), row * cols * BF16_BYTES);
  }
  return cut;
}
