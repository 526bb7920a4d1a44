// Models for tests of the loop: a tiny model of test/fixtures/llama, and a toy of one kernel. Their tokens are written
// as numbers: '195 104 122' is three tokens.

import type { KvType } from '../../../src/attention/kv_layout';
import { type Backend, MOST_SHARED } from '../../../src/engine/backend/backend';
import { WebGpuBackend } from '../../../src/engine/backend/webgpu_backend';
import type {
  AskedConstraint,
  EngineEvent,
  GenerateInput,
  GenerateOptions,
  TbtSummary,
  TokenEvent,
} from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import type { Session } from '../../../src/engine/worker/request/session';
import { RunAhead } from '../../../src/engine/worker/steps/run_ahead';
import type { Turn } from '../../../src/engine/worker/turns/turns';
import type { Gpu } from '../../../src/gpu/device';
import { CommandList, createKernel } from '../../../src/gpu/kernel';
import { compileConstraint } from '../../../src/grammar/constraint';
import { readConfig } from '../../../src/model/config/read';
import { Llama, type PassEnd } from '../../../src/model/llama';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights } from '../../../src/model/weights/weights';
import { openModel } from '../../../src/storage/model_file';
import type { Tokenizer } from '../../../src/text/tokenizer';
import { droppedFolder } from '../../model/fixtures/files';

export const TINY = 'f32_group4_hd32_bias_llama3_rope_parameters';
const VOCAB_SIZE = 259;

const tinyFiles = () => droppedFolder(new URL(`../../fixtures/llama/${TINY}`, import.meta.url).pathname);

/** The files of the tiny model with `value` among the numbers of `tensor`. */
export async function damagedFiles(tensor: string, value: number): Promise<File[]> {
  const files = tinyFiles();
  const at = files.findIndex(({ name }) => name === 'model.safetensors');
  const bytes = new Uint8Array(await files[at].arrayBuffer());
  const view = new DataView(bytes.buffer);
  const length = view.getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  view.setFloat32(8 + length + header[tensor].data_offsets[0] + 20, value, true);
  files[at] = new File([bytes], 'model.safetensors');
  return files;
}

/** The tiny model with one attention sibling for all passes, to compile less. */
export async function tinyBackend(
  gpu: Gpu,
  contextLength: number,
  dropped = tinyFiles(),
  kvType: KvType = 'f32',
): Promise<WebGpuBackend> {
  const files = await openModel(dropped);
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
  const llama = await Llama.create(gpu, config, weights, { contextLength, kvType, attention: 'fused_decode' });
  await read(files);
  llama.start(weights);
  return new WebGpuBackend(gpu, llama);
}

const TOY = `
@group(0) @binding(0) var<storage, read_write> tokens: array<u32>;
@compute @workgroup_size(1) fn main() {
  let last = step.position + step.n_tokens - 1u;
  if (SAMPLE) { tokens[last + 1u] = (tokens[last] * 31u + last * 7u + tokens[0]) % VOCAB_SIZE; }
}`;

/** `count` ids after the prompt by the rule of the toy, in plain loops. */
export function toyIds(prompt: readonly number[], count: number): number[] {
  const tokens = [...prompt];
  for (let n = 0; n < count; n++) {
    const last = tokens.length - 1;
    tokens.push((tokens[last] * 31 + last * 7 + tokens[0]) % VOCAB_SIZE);
  }
  return tokens.slice(prompt.length);
}

/** Tokens of a pass of the toy. */
export const TOY_PASS = 512;

/** A model that compiles quickly: arithmetic makes the next token from the one before. */
export async function toyBackend(gpu: Gpu, contextLength: number): Promise<WebGpuBackend> {
  const tokens = gpu.upload('toy.tokens', new Uint32Array(contextLength + 1));
  const list = async (sample: boolean) => {
    const constants = { SAMPLE: sample, VOCAB_SIZE };
    const kernel = await createKernel(gpu, { label: 'test/toy', wgsl: [TOY], constants, bindings: ['write'] });
    const made = new CommandList(gpu, { operations: Number.POSITIVE_INFINITY, dispatches: 2 });
    const group = kernel.bind(tokens);
    function* late() {
      made.add(kernel, group, 1);
      yield made.count(6.4e12);
    }
    made.addLate(late());
    return made;
  };
  const [sampling, silent] = await Promise.all([list(true), list(false)]);
  const sibling = { kernel: { name: 'fused_decode' } };
  const llama = {
    contextLength,
    passTokens: TOY_PASS,
    submitOperations: 2e11,
    tokens,
    needsHost: false,
    attention: { prefill: sibling, at: () => sibling, reason: 'a toy' },
    step: { name: 'plain', reason: 'a toy', gain: null, giveUps: 0 },
    vectors: { pooling: 'last', normalized: true, size: 64, only: false },
    setSampling() {},
    writeTokens: (ids: Uint32Array<ArrayBuffer>, position: number) => gpu.write(tokens, ids, 4 * position),
    stepGaveUp: () => null,
    pass: (_nTokens: number, end: PassEnd) => (end === 'none' ? silent : sampling),
  };
  return new WebGpuBackend(gpu, llama as unknown as Llama);
}

/** A tokenizer in which id 12 is the text ' 12', with only the members that the loop uses. */
export function numberTokenizer(eosIds: readonly number[] = []): Tokenizer {
  const decode = (ids: ArrayLike<number>) => Array.from(ids, (id) => ` ${id}`).join('');
  return {
    eosIds,
    encode: (text) => Uint32Array.from(text.trim().split(' '), Number),
    decode,
    tokenBytes: (id) => new TextEncoder().encode(decode([id])),
    tokenText: (id) => decode([id]),
  } as Tokenizer;
}

export function numberSession(backend: Backend, eosIds: readonly number[] = []): Session {
  return { backend, tokenizer: numberTokenizer(eosIds), template: null, vocabSize: VOCAB_SIZE, cachedIds: [] };
}

/** The id that ends an answer in `byteSession`. Those below have the bytes of constraints. */
const END = 258;

export function byteSession(backend: Backend): Session {
  const session = numberSession(backend, [END]);
  session.tokenizer.tokenBytes = (id) => (id < END ? Uint8Array.of(id % 256) : new Uint8Array());
  return session;
}

const constraints = new Map<string, AskedConstraint>();

/** Holds an answer of `byteSession` to a regular expression. */
export function regexConstraint(source: string): AskedConstraint {
  const asked = constraints.get(source) ?? { ...compileConstraint({ kind: 'regex', source }), onlyCalls: false };
  constraints.set(source, asked);
  return asked;
}

/** A run-ahead fixed at 20 steps, 5 to a readback, like `auto` in a browser that polls rarely. */
export function sharedRunAhead(): RunAhead {
  return Object.assign(new RunAhead('auto', 64, MOST_SHARED), { depth: 20, shared: 5, arrived: () => {} });
}

export interface Answer {
  ids: number[];
  /** One for each token, undefined without the option `logprobs`. */
  logprobs: TokenEvent['logprobs'][];
  text: string;
  done: Extract<EngineEvent, { type: 'done' }>;
  /** Undefined without the option `gpuTimes`. */
  gpuMs: TbtSummary | null | undefined;
  prefill: Extract<EngineEvent, { type: 'prefill' }>[];
}

interface Listener {
  stopped?: (tokens: number) => boolean;
  onToken?: (tokens: number) => void;
  /** Of a request among others. */
  turn?: Turn;
  constraint?: AskedConstraint;
}

/**
 * Runs one request. `stopped` and `onToken` get the number of tokens so far. With `stopped` the prompt must be one
 * chunk.
 */
export async function ask(
  session: Session,
  input: GenerateInput,
  options: GenerateOptions,
  { stopped = () => false, onToken = () => {}, turn, constraint }: Listener = {},
): Promise<Answer> {
  const ids: number[] = [];
  const logprobs: Answer['logprobs'] = [];
  const prefill: Answer['prefill'] = [];
  let text = '';
  let done: Answer['done'] | null = null;
  let gpuMs: Answer['gpuMs'];
  let checks = 0; // the loop checks before the prompt and after each token
  const hear = (event: EngineEvent) => {
    if (event.type === 'prefill') prefill.push(event);
    if (event.type === 'token') logprobs.push(event.logprobs);
    if (event.type === 'token') onToken(ids.push(event.id));
    if (event.type === 'token' || event.type === 'done') text += event.text;
    if (event.type === 'done') done = event;
    if (event.type === 'gpuTimes') gpuMs = event.gpuMs;
  };
  await generate(
    session,
    input,
    options,
    (events) => events.forEach(hear),
    () => stopped(checks++),
    undefined,
    constraint,
    turn,
  );
  if (!done) throw new Error('the answer did not end');
  return { ids, logprobs, text, done, gpuMs, prefill };
}
