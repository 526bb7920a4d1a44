// The suites of `bench`, their flags, and the request that the page gets. Pure: no files, no process.

import { SHAPES } from './bench_shapes.mjs';
import { flagLines, readFlags, UsageError } from './flags.mjs';

/**
 * @typedef {import('../../test/bench/report').BenchRequest} BenchRequest
 * @typedef {import('../../test/bench/report').SuiteName} SuiteName
 * @typedef {import('./flags.mjs').Flag} Flag
 * @typedef {{ suite: SuiteName, json: boolean, model: string | undefined, request: Omit<BenchRequest, 'model'> } | { help: true }} CommandLine
 *   `model` as typed
 */

const SIBLINGS = ['cpu', 'eager', 'chunked', 'flash_prefill', 'fused_decode', 'split_kv_decode', 'auto'];
const SHAPE_NAMES = Object.keys(SHAPES);

/** @type {Record<string, Flag>} */
const COMMON = {
  json: { kind: 'switch', help: 'one JSON object on stdout, nothing else' },
  quick: {
    kind: 'switch',
    help: 'short lengths and few repeats, for tests and slow adapters: the figures mean little',
  },
  help: { kind: 'switch', help: 'this text' },
};

/** @type {Flag} */
const SHAPE = { kind: 'texts', words: SHAPE_NAMES, help: 'head shape; may be given again (default: all)' };
/** @type {Flag} */
const KV = { kind: 'text', words: ['f16', 'f32'], help: 'how keys and values are stored (default f16)' };

/** @type {Record<SuiteName, { help: string, flags: Record<string, Flag> }>} */
const SUITES = {
  roofline: { help: 'what this GPU reads and computes at most, from WGSL', flags: {} },
  attention: {
    help: 'every attention sibling, prefill by prompt length and decode by cache length',
    flags: {
      shape: SHAPE,
      attention: {
        kind: 'texts',
        words: SIBLINGS,
        value: 'NAME',
        help: 'sibling, or auto for what the engine would pick; may be given again (default: all)',
      },
      lengths: { kind: 'text', value: 'LIST', help: 'prompt and cache lengths, as in 128,512' },
      kv: KV,
    },
  },
  baseline: {
    help: 'attention through the CPU against attention on the GPU, in the chat model and alone',
    flags: {
      context: { kind: 'whole', value: 'N', help: 'prompt tokens of the chat model (default 512)' },
      model: { kind: 'text', value: 'DIR|FILE.gguf|URL', help: 'the chat model (default: the embedded storyteller)' },
    },
  },
  tune: {
    help: 'the tuner: every candidate with its time or why it was refused, and the winner',
    flags: { shape: { ...SHAPE, help: 'head shape; may be given again (default llama-3.1-8b)' }, kv: KV },
  },
};

/** @returns {string} */
export function benchUsage() {
  const suites = Object.entries(SUITES).flatMap(([name, { help, flags }]) => [`${name}: ${help}`, ...flagLines(flags)]);
  const lines = ['Usage: npm run --silent bench -- SUITE [flags]', '', ...suites, 'every suite:', ...flagLines(COMMON)];
  return lines.join('\n');
}

/** @param {unknown} list @returns {number[] | null} */
function readLengths(list) {
  if (list === undefined) return null;
  const lengths = String(list).split(',').map(Number);
  if (lengths.every((length) => Number.isSafeInteger(length) && length > 0)) return lengths;
  throw new UsageError(`--lengths ${list}: not a list of whole numbers above 0, as in 128,512.`);
}

/** @param {unknown} value @returns {any} what was given one or more times, each once */
const distinct = (value) => [...new Set(/** @type {string[]} */ (value))];

/** @param {string | undefined} name @returns {SuiteName} */
function readSuite(name) {
  if (name !== undefined && Object.hasOwn(SUITES, name)) return /** @type {SuiteName} */ (name);
  const choice = `choose ${Object.keys(SUITES).join(', ')}`;
  throw new UsageError(
    name === undefined || name.startsWith('--') ? `Which suite? Please ${choice}.` : `No suite ${name}: ${choice}.`,
  );
}

/** @param {SuiteName} suite @param {boolean} quick @returns {any} */
function standardShapes(suite, quick) {
  if (quick) return ['storyteller'];
  return suite === 'tune' ? ['llama-3.1-8b'] : SHAPE_NAMES;
}

const CONTEXT = 512;
const QUICK_CONTEXT = 64;

/** @param {readonly string[]} args @returns {CommandLine} */
export function parseBench(args) {
  if (args.includes('--help')) return { help: true };
  const [name, ...rest] = args;
  const suite = readSuite(name);
  const values = readFlags({ ...SUITES[suite].flags, ...COMMON }, rest);
  const quick = values.quick === true;
  const context = Number(values.context ?? (quick ? QUICK_CONTEXT : CONTEXT));
  if (context < 1) throw new UsageError(`--context ${context}: at least 1.`);
  return {
    suite,
    json: values.json === true,
    model: values.model === undefined ? undefined : String(values.model),
    request: {
      suite,
      quick,
      shapes: distinct(values.shape ?? standardShapes(suite, quick)),
      attention: distinct(values.attention ?? SIBLINGS),
      lengths: readLengths(values.lengths),
      kv: values.kv === 'f32' ? 'f32' : 'f16',
      context,
    },
  };
}
