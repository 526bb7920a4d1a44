// The search for the operation that first computes a NaN or an infinity: each operation of a pass runs by itself, and
// its output is read back.

import type { Bindable } from '../../gpu/buffer_range';
import type { Gpu } from '../../gpu/device';
import { CommandList, type Step } from '../../gpu/kernel';
import { BLOCK } from '../../kernels/linear/weight_format';
import type { Layers } from './layers';
import type { LinearSources, Operation } from './linears';

/** An operation, and where it leaves `size` numbers for each token, or that many bytes and their scales. */
interface Stage {
  what: string;
  operation: Operation;
  out: GPUBuffer;
  size: number;
}

/** How a model runs its prompts. */
interface Passes {
  writeTokens(ids: Uint32Array<ArrayBuffer>, position: number): void;
  pass(nTokens: number, end: 'none', position: number): CommandList;
  /** Most tokens of a pass. */
  passTokens: number;
}

/** A model with its operations. */
interface Searched extends Pick<LinearSources, 'gpu' | 'config' | 'buffers'> {
  embed: Operation;
  layers: Layers;
  passes: Passes;
}

/** The first operation that computes a NaN or an infinity when the ids run as a prompt, or null. */
export async function findNotFinite(model: Searched, ids: Uint32Array<ArrayBuffer>): Promise<string | null> {
  const { gpu, buffers, config, passes } = model;
  const { length: tokens } = ids;
  const { passTokens } = passes;
  passes.writeTokens(ids, 0);
  for (let position = 0; position < tokens; position += passTokens) {
    const step = { position, nTokens: Math.min(passTokens, tokens - position) };
    await passes.pass(step.nTokens, 'none', position).run(step);
    const isLast = position + step.nTokens === tokens; // of which the head may be the first
    if (!isLast && (await allFinite(gpu, buffers.x, config.hiddenSize * step.nTokens))) continue;
    const found = await firstNotFinite(gpu, stagesOf(model, position + step.nTokens), step);
    if (found !== null || isLast) return found;
  }
  return null;
}

/** The operations of a prompt's pass whose last token sees kvLen keys. */
function* stagesOf({ buffers, config, embed, layers }: Searched, kvLen: number): Generator<Stage> {
  const { x, q, attn, h, logits } = buffers;
  const { hiddenSize, nHeads, headDim, intermediateSize, vocabSize } = config;
  const stage = (what: string, operation: Operation, out: GPUBuffer, size: number) => ({ what, operation, out, size });
  yield stage('the embedding', embed, x, hiddenSize);
  for (const [i, layer] of layers.at(2, kvLen).entries()) {
    yield stage(`layer ${i}, queries`, layer.qkv, q, nHeads * headDim);
    yield stage(`layer ${i}, attention`, layer.attention, attn, nHeads * headDim);
    yield stage(`layer ${i}, after attention`, layer.o, x, hiddenSize);
    yield stage(`layer ${i}, gate and up`, layer.gateUp, h, intermediateSize);
    yield stage(`layer ${i}, after the MLP`, layer.down, x, hiddenSize);
  }
  yield stage('the head', layers.head, logits, vocabSize);
}

/** Runs the stages in their order. The first with a number that is not finite, and its last kernel, or null. */
async function firstNotFinite(gpu: Gpu, stages: Iterable<Stage>, step: Step): Promise<string | null> {
  for (const { what, operation, out, size } of stages) {
    const list = new CommandList(gpu);
    operation.record(list, step.nTokens);
    await list.run(step);
    const count = size * step.nTokens;
    // Bytes are always finite. Their scales, an f32 behind them for 32 bytes, may not be.
    const scales = { buffer: out, offset: count, size: 4 * (count / BLOCK) };
    const numbers = operation.leavesBytes?.(step.nTokens) ? scales : out;
    if (await allFinite(gpu, numbers, count)) continue;
    const dispatches = list.submitsAt(step).flatMap(({ commands }) => commands);
    return `${what} (${dispatches.at(-1)?.label ?? 'on the CPU'})`;
  }
  return null;
}

/** True if the first `count` numbers of a buffer are finite, as far as it reaches. */
async function allFinite(gpu: Gpu, buffer: Bindable, count: number): Promise<boolean> {
  const values = new Float32Array(await gpu.read(buffer, Math.min(4 * count, buffer.size)));
  return values.every(Number.isFinite);
}
