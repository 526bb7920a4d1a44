// Loads a model: opens its files, chooses backend, context and formats, and reports progress and warnings.

import { AttentionUnavailable, WebGpuUnavailableError } from '../../errors';
import { Gpu } from '../../gpu/device';
import { MOST_CONTROLS } from '../../grammar/answer/control_range';
import type { ModelConfig } from '../../model/config/config';
import { readGgufConfig } from '../../model/config/read_gguf';
import { kvReadsOf } from '../../model/kv/kv_cache';
import { Llama } from '../../model/llama';
import { padConfig } from '../../model/padding';
import { checkStep } from '../../model/step/step_choice';
import { stepWeightBytes } from '../../model/weights/step_bytes';
import { type ModelTensors, resolveTensors } from '../../model/weights/tensors';
import { hasPlainMatrix } from '../../model/weights/weights';
import { arrived } from '../../shared/part';
import { openCache } from '../../storage/cache/cache';
import type { StartPieceThread } from '../../storage/cache/piece_threads';
import { resolveUrl } from '../../storage/hub/model_url';
import { openModel } from '../../storage/model_file';
import type { ModelFiles } from '../../storage/model_files';
import type { OpenOptions } from '../../storage/source/byte_source';
import { type AnswerForm, answerForm } from '../../text/answer/answer_form';
import { type ChatTemplate, createChatTemplate } from '../../text/template/chat_template';
import { findChatTemplate } from '../../text/template/find_template';
import { createGgufTokenizer, type Tokenizer } from '../../text/tokenizer';
import { strayEnd } from '../../text/vocabulary/special_tokens';
import { attentionKey, loadProfile } from '../../tune/profile/profile_store';
import type { Backend } from '../backend/backend';
import { WebGpuBackend } from '../backend/webgpu_backend';
import type { ArithmeticChoice, EngineInfo, LoadOptions, LoadProgress, ModelLocation, Warning } from '../protocol';
import { chooseArithmetic } from './choose_arithmetic';
import { type Attempt, blamesFiles, describeRepair, mayHeal } from './load_again';
import type { LoadedBackend, LoadInputs } from './load_inputs';
import { allocateModel, typedMemory } from './load_memory';
import {
  checkActivations,
  checkLocation,
  chooseContext,
  chooseKvBudget,
  type ResolvedLoad,
  resolveLoad,
} from './load_options';
import { LoadTracker } from './load_tracker';
import { readSamplingDefaults } from './sampling_defaults';
import type { SettledLoad } from './settle';
import { type StoredModel, storedModel } from './stored_model';
import { tunedStep } from './tuned_step';

/** A model that can run. */
export interface ReadyModel {
  backend: Backend;
  tokenizer: Tokenizer;
  template: ChatTemplate | null;
  /** Rows of the embedding. */
  vocabSize: number;
  /** The form of the model's answers, for constraints. Absent without a template. */
  form?: AnswerForm;
  /** The ids whose keys and values the cache holds, from position 0. */
  cachedIds: readonly number[];
}

export interface LoadedModel {
  session: ReadyModel;
  info: EngineInfo;
  isKept?: boolean;
  /** Which prompts outlive the engine, and what they have in common: null where the browser does not keep the model. */
  stored?: { keeps: 'system' | 'all'; location: string; model: Promise<StoredModel | null> };
}

/** The work of other threads for a load. Absent: the thread that loads does it. */
export interface LoadThreads extends Pick<OpenOptions, 'createHasher'> {
  startPieceThread?: StartPieceThread;
}

/** Loads the model at a location: opens its files, chooses a backend, and reads the weights while pipelines compile. */
export async function loadModel(
  location: ModelLocation,
  given: LoadOptions,
  onProgress: (progress: LoadProgress) => unknown,
  signal: AbortSignal,
  threads: LoadThreads = {},
  goesAlone?: AbortSignal,
  before?: ArithmeticChoice,
): Promise<LoadedModel> {
  checkLocation(location);
  const options = { ...resolveLoad(given, location), before };
  const place = typeof location === 'string' ? resolveUrl(location, options.hubUrl).href : location;
  const load = (attempt: Attempt, isSecond: boolean) =>
    loadOnce(place, options, new LoadTracker(onProgress, goesAlone), signal, threads, attempt, isSecond);
  const newAttempt = (): Attempt => ({ readBytes: 0, fetchedBytes: 0, isParsed: false });
  const first = newAttempt();
  try {
    return await load(first, false);
  } catch (error) {
    signal.throwIfAborted();
    if (typeof place !== 'string' || !mayHeal(error, first)) throw error;
    const loaded = await load(newAttempt(), true);
    loaded.info.warnings.push(describeRepair(error));
    return loaded;
  }
}

async function loadOnce(
  place: ModelLocation,
  options: ResolvedLoad,
  tracker: LoadTracker,
  signal: AbortSignal,
  { createHasher, startPieceThread }: LoadThreads,
  attempt: Attempt,
  isSecond: boolean,
): Promise<LoadedModel> {
  const warnings: Warning[] = [];
  const onWarning = (warning: Warning) => void warnings.push(warning);
  const { cache: keeps, sha256 } = options;
  const checks = keeps === 'check';
  const cache =
    keeps && typeof place === 'string'
      ? await openCache(place, onWarning, checks, tracker.waits, startPieceThread)
      : null;
  const ended = new AbortController(); // ends reading ahead together with the load
  const abort = () => ended.abort(signal.reason);
  signal.addEventListener('abort', abort);
  let isVerified = false;
  let closing: Promise<void> | undefined;
  try {
    signal.throwIfAborted();
    const files = await openModel(place, {
      signal: ended.signal,
      onBytes(bytes, fromCache) {
        attempt.readBytes += bytes;
        if (!fromCache) attempt.fetchedBytes += bytes;
        tracker.addBytes(bytes, fromCache);
      },
      onWarning,
      async onConfig(config) {
        const { checkConfigJson } = await arrived(import('../../model/config/read'));
        checkConfigJson(config);
      },
      onVerified() {
        isVerified = true;
      },
      createHasher,
      cache,
      hub: options.hubUrl,
      httpCache: isSecond ? 'reload' : checks ? 'no-cache' : 'default',
      sha256: sha256?.toLowerCase(),
    });
    const model = await readModel(options.debug ? await debugged(files) : files);
    attempt.isParsed = true;
    const loaded = await loadFiles(model, options, tracker, warnings, signal);
    if (sha256 !== undefined && !isVerified) warnings.push(UNVERIFIED);
    cache?.noteLoaded();
    closing = cache?.close();
    if (!cache || !closing) return loaded;
    const { keepPrompts: keeps } = options;
    const common = closing.then(() => storedModel(cache, loaded.info, options)).catch(() => null);
    const stored = keeps === 'none' ? undefined : { keeps, location: cache.location, model: common };
    return { ...loaded, isKept: cache.isKept, stored };
  } catch (thrown) {
    const error = typedMemory(thrown, attempt.readBytes);
    ended.abort(error);
    if (blamesFiles(error, attempt)) await cache?.discard();
    closing = cache?.close();
    if (mayHeal(error, attempt)) await closing; // before a second load opens the cache
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
    closing ??= cache?.close();
  }
}

const UNVERIFIED: Warning = {
  code: 'sha256-unverified',
  message: 'The model does not need all bytes of its file, so that their SHA-256 was not computed.',
};

/** Files that find a NaN as they are read. */
async function debugged(files: ModelFiles): Promise<ModelFiles> {
  const { checkedFiles } = await arrived(import('../../model/weights/checked_files'));
  return checkedFiles(files);
}

/** Reads everything but the weights. */
async function readModel(files: ModelFiles) {
  const config = files.gguf ? readGgufConfig(files) : await readFolderConfig(files);
  const tensors = resolveTensors(files, config);
  const tokenizer = createGgufTokenizer(files) ?? (await readTokenizer(files));
  const source = findChatTemplate(files);
  const template = source === null ? null : createChatTemplate(source, tokenizer);
  return { files, config, tensors, tokenizer, template };
}

async function readTokenizer(files: ModelFiles): Promise<Tokenizer> {
  const { createTokenizer } = await arrived(import('../../text/any_tokenizer'));
  return createTokenizer(files);
}

async function readFolderConfig(files: ModelFiles): Promise<ModelConfig> {
  const { readConfig } = await arrived(import('../../model/config/read'));
  return readConfig(files);
}

async function loadFiles(
  { files, config, tensors, tokenizer, template }: Awaited<ReturnType<typeof readModel>>,
  options: ResolvedLoad,
  tracker: LoadTracker,
  warnings: Warning[],
  signal: AbortSignal,
): Promise<LoadedModel> {
  const quantized = quantizes(files, tensors, options, warnings);
  checkActivations(tensors, options);
  checkEnds(files, tokenizer.vocabSize, warnings);
  const gpu = await requestGpu(options, warnings);
  const contextLength = chooseContext(config, options, gpu?.bindingLimit ?? null, warnings);
  tracker.stage('weights', files.totalBytes); // all cheap checks have passed
  await tracker.reported();
  signal.throwIfAborted();
  const inputs = { files, config, tensors, contextLength, options, signal, tracker, warnings };
  const onGpu = gpu && (await loadOnGpu(gpu, inputs));
  const { backend, activations, arithmetic, gpuBytes, bytesPerToken } = onGpu ?? (await onCpu(inputs));
  tracker.stage('ready', files.totalBytes);
  const { pooling, size, only } = backend.vectors;
  const form = template ? answerForm(template.syntax, tokenizer, MOST_CONTROLS) : undefined;
  const cacheBytes = backend.parking?.bytesOf(backend.contextLength) ?? 0;
  const kvBudgetBytes = chooseKvBudget(options, cacheBytes, onGpu ? gpu.limits.maxBufferSize : null);
  return {
    session: { backend, tokenizer, template, vocabSize: config.vocabSize, form, cachedIds: [] },
    info: {
      model: describeModel(files, config, quantized),
      backend: backend.name,
      adapter: onGpu ? gpu.adapterName : null,
      contextLength: backend.contextLength,
      kvCache: onGpu ? options.kvCache : 'f32',
      activations,
      arithmetic,
      attention: backend.attention,
      askedAttention: options.attention,
      step: backend.step,
      hasChatTemplate: template !== null,
      tools: Boolean(template?.syntax.tools),
      thinking: template?.syntax.thinking?.ability ?? 'none',
      embeddings: { pooling, size, only },
      gpuBytes,
      bytesPerToken,
      kvBudgetBytes,
      maxConcurrent: kvBudgetBytes > 0 ? options.maxConcurrent : 1,
      loadMs: tracker.times(),
      samplingDefaults: readSamplingDefaults(files),
      warnings,
    },
  };
}

/**
 * Loads the model on the GPU. Null, with a warning, if no attention kernel is right on this GPU: the CPU takes over.
 */
async function loadOnGpu(gpu: Gpu, inputs: LoadInputs): Promise<LoadedBackend | null> {
  const { files, config, options, signal, tracker, warnings } = inputs;
  const { kvCache: kvType, attention, step, backend: asked } = options;
  const key = attentionKey(config, kvType);
  try {
    const profile = await loadProfile(gpu);
    const tuned = attention === 'auto' ? profile?.attention[key] : undefined;
    const { weights, read, memory } = await allocateModel(gpu, inputs, tuned);
    const { contextLength } = memory;
    let reading: Promise<void> | null = null;
    const startReading = () => {
      reading ??= read(files, signal);
      reading.catch(() => {}); // awaited below
      return reading;
    };
    const arithmetic = await chooseArithmetic(gpu, { ...inputs, weights, memory, profile }, startReading);
    const settled = {
      ...inputs,
      asked: step,
      weights,
      kvType,
      contextLength,
      activations: arithmetic.decode,
      profile,
      attention: tuned,
    };
    const compiling = Llama.create(gpu, config, weights, {
      contextLength,
      kvType,
      attention,
      profile: tuned,
      productProfile: profile ?? undefined,
      activations: arithmetic,
      step,
      tunedStep: tunedStep(settled),
      memory,
    });
    // A GPU in software measures a step by name alone.
    const settling = gpu.isSoftware && step !== 'fused' ? null : settleLater(gpu, compiling, settled);
    for (const each of [compiling, settling]) each?.catch(() => {}); // awaited below, but reading may fail first
    await startReading();
    tracker.stage('compile', files.totalBytes);
    const llama = await compiling;
    checkStep(step, llama.step);
    llama.start(weights);
    await (await settling)?.();
    signal.throwIfAborted();
    const backend = new WebGpuBackend(gpu, llama, key);
    await backend.warmUp();
    for (const { message } of llama.attention.setAside) warnings.push({ code: 'attention-fallback', message });
    const { kvCacheBytes, activations } = llama;
    const others = gpu.allocatedBytes - weights.bytes - kvCacheBytes;
    return {
      backend,
      activations,
      arithmetic: { ...arithmetic, ...llama.arithmetic, matrices: llama.matrices },
      gpuBytes: { weights: weights.bytes, kvCache: kvCacheBytes, activations: others },
      bytesPerToken: { weights: stepWeightBytes(weights), ...kvReadsOf(padConfig(config), kvType) },
    };
  } catch (thrown) {
    const error = signal.aborted ? thrown : await gpu.explain(thrown);
    gpu.destroy(); // and with the device all its memory
    if (!(error instanceof AttentionUnavailable) || attention !== 'auto' || asked !== 'auto') throw error;
    const why = error.message.replace(/ Use "auto".*$/, '');
    warnings.push({ code: 'attention-fallback', message: `${why} Running on the CPU, which is much slower.` });
    return null;
  }
}

/** What ends the load once the weights are there (settle.ts), fetched while the model compiles. */
async function settleLater(gpu: Gpu, compiling: Promise<Llama>, load: SettledLoad) {
  if (!gpu.can.timestamps && !(await compiling).stepped.fused) return; // there is nothing to measure
  const { settle } = await arrived(import('./settle'));
  return settle(gpu, await compiling, load);
}

async function onCpu(inputs: LoadInputs): Promise<LoadedBackend> {
  const { loadOnCpu } = await arrived(import('./load_on_cpu'));
  return loadOnCpu(inputs, countParameters(inputs.files));
}

/** The GPU, or null to run on the CPU: on request, or with a warning if there is no WebGPU. */
async function requestGpu(options: ResolvedLoad, warnings: Warning[]): Promise<Gpu | null> {
  if (options.backend === 'cpu') return null;
  try {
    return await Gpu.request();
  } catch (error) {
    if (options.backend === 'webgpu' || !(error instanceof WebGpuUnavailableError)) throw error;
    warnings.push({ code: error.code, message: `${error.message} Running on the CPU, which is much slower.` });
    return null;
  }
}

/** The format that matrices in full precision become, or null if they stay. Warns about a request without effect. */
function quantizes(
  files: ModelFiles,
  tensors: ModelTensors,
  { quantize }: ResolvedLoad,
  warnings: Warning[],
): 'Q8_0' | 'Q4_0' | null {
  if (!quantize) return null;
  if (hasPlainMatrix(tensors)) return quantize === 'q8' ? 'Q8_0' : 'Q4_0';
  const message = `The matrices of this model are quantized already (${storedFormats(files)}); they stay as they are.`;
  warnings.push({ code: 'quantize-ignored', message });
  return null;
}

/** Warns of an end that no answer can have. */
function checkEnds(files: ModelFiles, vocabSize: number, warnings: Warning[]): void {
  const id = strayEnd(files, vocabSize);
  if (!id) return; // id 0 is in every vocabulary
  const message = `Answers end with id ${id}; the vocabulary has ${vocabSize} ids. Correct eos_token_id or pass stop.`;
  warnings.push({ code: 'end-token', message, facts: { id, vocabSize } });
}

function countParameters(files: ModelFiles): number {
  const elements = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);
  return [...files.tensors.values()].reduce((sum, tensor) => sum + elements(tensor.shape), 0);
}

function storedFormats(files: ModelFiles): string {
  return [...new Set([...files.tensors.values()].map((tensor) => tensor.dtype))].join(' + ');
}

function describeModel(files: ModelFiles, config: ModelConfig, quantized: string | null): EngineInfo['model'] {
  const { architecture, nLayers, hiddenSize, nHeads, nKvHeads, headDim, vocabSize } = config;
  return {
    name: files.name,
    architecture,
    parameters: countParameters(files),
    nLayers,
    hiddenSize,
    nHeads,
    nKvHeads,
    headDim,
    vocabSize,
    format: quantized ? `${storedFormats(files)}, quantized to ${quantized}` : storedFormats(files),
    fileBytes: files.totalBytes,
  };
}
