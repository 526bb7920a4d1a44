import { InvalidRequestError } from '../errors';
import type { ModelTensors } from '../model/tensors';
import { isPlainMatrix } from '../model/weights';
import type { ActivationType, LoadOptions } from './protocol';

/** @throws InvalidRequestError for values that no model can be loaded with */
export function checkOptions(options: LoadOptions): void {
  const {
    contextLength,
    kvCache = 'f16',
    backend = 'auto',
    activations = 'auto',
    quantize,
    cache = true,
    hubUrl,
  } = options;
  if (contextLength !== undefined && (!Number.isInteger(contextLength) || contextLength < 2)) {
    throw new InvalidRequestError(`contextLength must be a whole number of at least 2, got ${String(contextLength)}.`);
  }
  if (kvCache !== 'f16' && kvCache !== 'f32') {
    throw new InvalidRequestError(`kvCache must be f16 or f32, got ${String(kvCache)}.`);
  }
  if (backend !== 'auto' && backend !== 'webgpu' && backend !== 'cpu') {
    throw new InvalidRequestError(`backend must be auto, webgpu or cpu, got ${String(backend)}.`);
  }
  if (quantize !== undefined && quantize !== 'q8' && quantize !== 'q4') {
    throw new InvalidRequestError(`quantize must be q8 or q4, got ${String(quantize)}.`);
  }
  if (activations !== 'auto' && activations !== 'f32' && activations !== 'q8') {
    throw new InvalidRequestError(`activations must be auto, f32 or q8, got ${String(activations)}.`);
  }
  if (typeof cache !== 'boolean' && cache !== 'check') {
    throw new InvalidRequestError(`cache must be true, false or check, got ${String(cache)}.`);
  }
  if (hubUrl !== undefined && !(URL.canParse(hubUrl) && /^https?:$/.test(new URL(hubUrl).protocol))) {
    throw new InvalidRequestError(`hubUrl must be an http or https address, got ${String(hubUrl)}.`);
  }
}

/**
 * Forced means forced: q8 is refused before anything is read where no product would run on it.
 * @throws InvalidRequestError
 */
export function checkActivations({ embedding, layers, head }: ModelTensors, options: LoadOptions): void {
  if (options.activations !== 'q8' || options.quantize) return;
  const inLayers = layers.flatMap(({ wq, wo, wGate, wDown }) => [wq, wo, wGate, wDown]); // those of a product are alike
  const products = [...inLayers, head ?? embedding];
  if (!products.every(isPlainMatrix)) return;
  const formats = [...new Set(products.map(({ dtype }) => dtype))].join(' and ');
  throw new InvalidRequestError(
    `Activations q8 need matrices of integers, and those of this model are ${formats}. ` +
      'Quantize them while they load (quantize or --quantize, q8 or q4), or choose activations auto or f32.',
  );
}

/** What to ask of the products: each matrix without integers is multiplied in f32 all the same. */
export function chooseActivations({ activations = 'auto' }: LoadOptions, isSoftware: boolean): ActivationType {
  if (activations !== 'auto') return activations;
  // A CPU that plays a GPU gains nothing from them, and takes seconds longer to compile their kernels.
  return isSoftware ? 'f32' : 'q8';
}
