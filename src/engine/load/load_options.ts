// Checks the options of a load, fills in defaults, and chooses the context length.

import { InvalidRequestError } from '../../errors';
import type { ModelConfig } from '../../model/config/config';
import { kvBytesOf, kvBytesPerToken } from '../../model/kv/kv_cache';
import { padConfig } from '../../model/padding';
import type { ModelTensors } from '../../model/weights/tensors';
import { isPlainMatrix } from '../../model/weights/weights';
import { mostThatFit } from '../../shared/most_that_fit';
import { resolveOptions } from '../option_values';
import { BESIDE, LOAD_OPTIONS, type Resolved } from '../options';
import type { ArithmeticChoice, LoadOptions, ModelLocation, QuantizedFormat, Warning } from '../protocol';

/** Default bounds of the context, in bytes and in tokens, unless the caller asks for more. */
const DEFAULT_CONTEXT_BYTES = 2 ** 30;
const DEFAULT_CONTEXT = 2 ** 17;

/** Load options with defaults. */
export interface ResolvedLoad extends Omit<Resolved<typeof LOAD_OPTIONS>, 'quantize'> {
  /** Undefined: weights stay as the file holds them. */
  quantize: QuantizedFormat | undefined;
  /** The arithmetic of the model before it was lost, if it was. */
  before?: ArithmeticChoice;
}

/** @throws InvalidRequestError for a value that is not legal */
export function resolveLoad(given: LoadOptions, location: ModelLocation = ''): ResolvedLoad {
  const { quantize, ...options } = resolveOptions(LOAD_OPTIONS, given, BESIDE.load);
  if (options.sha256 !== undefined && typeof location !== 'string') {
    throw new InvalidRequestError('sha256 needs the address of a model, not a file.', 'sha256');
  }
  return { ...options, quantize: quantize === 'none' ? undefined : quantize };
}

/**
 * Refuses a blank address, no files, and what a caller without types may pass, such as the FileList of an input. A
 * frame has a class File of its own.
 * @throws InvalidRequestError
 */
export function checkLocation(location: unknown): void {
  if (typeof location === 'string' && location.trim() !== '') return;
  const kinds = [location].flat().map((file) => Object.prototype.toString.call(file));
  const wrong = kinds.length === 0 ? 'no file' : kinds.find((kind) => kind !== '[object File]');
  if (wrong === undefined) return;
  const got = typeof location === 'string' ? 'a blank text' : wrong;
  throw new InvalidRequestError(
    `A model is the address of a .gguf file or of a folder, hf:owner/repo, a File or an array of Files, got ${got}. ` +
      'Of an input, pass Array.from(input.files).',
    'model',
  );
}

/**
 * Refuses q8 before the weights are read if no linear could run on it: a forced option is never ignored.
 * @throws InvalidRequestError
 */
export function checkActivations({ embedding, layers, head }: ModelTensors, options: ResolvedLoad): void {
  if (options.activations !== 'q8' || options.quantize) return;
  // wk, wv and wUp have the formats of wq and wGate.
  const inLayers = layers.flatMap(({ wq, wo, wGate, wDown }) => [wq, wo, wGate, wDown]);
  const products = [...inLayers, head ?? embedding];
  if (!products.every(isPlainMatrix)) return;
  const formats = [...new Set(products.map(({ dtype }) => dtype))].join(' and ');
  throw new InvalidRequestError(
    `Activations q8 need matrices of integers; those of this model are ${formats}. Load with quantize q8 or q4, or with activations auto or f32.`,
    'activations',
  );
}

/** The most bytes by which the scales of a layer are rounded up (kv_layout.ts). */
const ROUNDED_BYTES = 12;

/**
 * The context length in tokens, at most that of the model and of one binding. Without a request it also stays within a
 * sensible share of memory, and within the context in which the model is most exact.
 *
 * @param bindingLimit most bytes of a binding of the GPU, or null on the CPU
 */
export function chooseContext(
  model: ModelConfig,
  { contextLength: asked, kvCache }: ResolvedLoad,
  bindingLimit: number | null,
  warnings: Warning[],
): number {
  const config = bindingLimit === null ? model : padConfig(model);
  const kvBytes = kvBytesPerToken(config, bindingLimit === null ? 'f32' : kvCache);
  const ropeBytes = 4 * config.headDim; // of a row of each table
  const largestBinding = Math.max(kvBytes / (2 * config.nLayers), ropeBytes);
  const slack = kvCache === 'q8' ? ROUNDED_BYTES : 0;
  const bindable = Math.floor(((bindingLimit ?? Number.POSITIVE_INFINITY) - slack) / largestBinding);
  const exact = exactContext(config);
  // Layers with a window take no more from some length on: the bytes beyond are those of the other layers.
  const bytesOf = (tokens: number) =>
    (bindingLimit === null ? kvBytes * tokens : kvBytesOf(config, kvCache, tokens)) +
    ropeBytes * config.ropes.length * tokens;
  const fitting = mostThatFit(DEFAULT_CONTEXT, (tokens) => bytesOf(tokens) <= DEFAULT_CONTEXT_BYTES);
  const modest = Math.min(fitting, DEFAULT_CONTEXT, exact);
  const contextLength = Math.min(asked ?? modest, config.contextLength, bindable);
  const wanted = asked ?? config.contextLength;
  if (contextLength < wanted) {
    const why =
      contextLength === config.contextLength
        ? 'the model was made for no more'
        : contextLength === exact
          ? 'with more it would answer short chats, too, less exactly; ask for more where a chat needs it'
          : `more would take too much memory (${bytesOf(contextLength + 1) - bytesOf(contextLength)} bytes a token)`;
    const message = `The context is ${contextLength} tokens instead of ${wanted}: ${why}.`;
    warnings.push({ code: 'context-shortened', message, facts: { contextLength, asked: wanted } });
  }
  return contextLength;
}

/** Branches beside a cache of no more bytes may take as many. Of a larger one they take a quarter. */
const SMALL_CACHE = 2 ** 28;
/** The machine's memory for branches on the CPU. */
const CPU_BRANCH_BYTES = 2 ** 28;

/**
 * Most bytes of parked branches. WebGPU tells nobody how much memory there is; the largest buffer grows with it.
 *
 * @param maxBufferSize of the GPU, or null on the CPU
 */
export function chooseKvBudget(
  { kvBudgetBytes }: ResolvedLoad,
  cacheBytes: number,
  maxBufferSize: number | null,
): number {
  if (kvBudgetBytes !== undefined) return kvBudgetBytes;
  const modest = Math.max(Math.min(cacheBytes, SMALL_CACHE), cacheBytes / 4);
  return Math.floor(Math.min(modest, maxBufferSize === null ? CPU_BRANCH_BYTES : maxBufferSize / 4));
}

/** Longest context in which dynamic and longrope scaling keep the original frequencies (inverseFrequencies). */
function exactContext({ ropes }: ModelConfig): number {
  const limits = ropes.map(({ scaling }) =>
    scaling?.type === 'dynamic' || scaling?.type === 'longrope'
      ? scaling.originalContextLength
      : Number.POSITIVE_INFINITY,
  );
  return Math.min(...limits);
}
