// The suites of `bench`, their flags, and the request that the page gets. Pure: no files, no process.

import { GENERATE_OPTIONS, LOAD_SETTINGS } from '../../src/engine/options';
import { type Flags, flagLines, readFlags, UsageError, type Values } from '../../tools/lib/command_line/flags';
import { flagsOf, optionsOf } from '../../tools/lib/command_line/option_flags';
import type { BenchRequest, ShapeName, SuiteName } from '../report';
import { MODELS } from '../shapes';

export interface CommandLine {
  json: boolean;
  /** The chat model as typed. */
  model: string | undefined;
  /** The number of browsers that run the request, one after another. */
  browsers: number;
  request: Omit<BenchRequest, 'model'>;
}

const wordsOf = <C extends Readonly<Record<string, string>>>({ choices }: { choices: C }) =>
  Object.keys(choices) as (keyof C & string)[];

const SIBLINGS = wordsOf(LOAD_SETTINGS.attention);
const SHAPE_NAMES = Object.keys(MODELS) as ShapeName[];
/** The shapes that attention is measured at by default. */
const STANDARD_SHAPES: ShapeName[] = ['storyteller', 'llama-3.2-1b', 'llama-3.1-8b'];

/** Suites of synthetic weights. */
const MADE_UP: readonly SuiteName[] = ['decode', 'prefill', 'step', 'race', 'matrices', 'kv'];

const COMMON = {
  json: { kind: 'switch', help: 'one JSON object on stdout, nothing else' },
  quick: {
    kind: 'switch',
    help: 'short lengths and few repeats, for tests and slow adapters: the figures mean little',
  },
} as const;

const SHAPE = {
  kind: 'texts',
  words: SHAPE_NAMES,
  help: 'head shape; may be given again (default: all but smollm2-135m)',
} as const;
const KV = {
  kind: 'text',
  words: wordsOf(LOAD_SETTINGS.kvCache),
  help: 'how keys and values are stored (default f16)',
} as const;

/** A model of synthetic weights. */
const MODEL = {
  browsers: {
    kind: 'whole',
    value: 'N',
    help: 'fresh browsers, one after another: the middle one and the spread are told (default 1)',
  },
  shape: { ...SHAPE, help: 'model shape; may be given again (default llama-3.2-1b)' },
  quant: {
    kind: 'text',
    words: ['q4', 'q8', 'q4_k', 'q5_k', 'q6_k', 'f16'],
    help: 'how its matrices are stored (default q4)',
  },
  kv: KV,
  attention: { kind: 'text', words: SIBLINGS, help: 'force a sibling (default auto)' },
  step: {
    kind: 'text',
    words: wordsOf(LOAD_SETTINGS.step),
    help: 'one dispatch for all layers, or one for each operation (default auto)',
  },
  activations: {
    kind: 'text',
    words: wordsOf(LOAD_SETTINGS.activations),
    help: 'what products read (default auto, which races nothing here: q8)',
  },
  tuned: { kind: 'switch', help: 'tune products first, as the first load on a GPU does, and tell the time of that' },
} as const;

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
    flags: {
      shape: { ...SHAPE, help: 'head shape; may be given again (default llama-3.1-8b)' },
      kv: KV,
      quant: MODEL.quant,
      activations: MODEL.activations,
      only: { kind: 'text', words: ['attention', 'products'], help: 'one half of it (default both)' },
    },
  },
  prefill: {
    help: 'prompts through a model of synthetic weights: tokens per second, first token, passes and kernels on the GPU',
    flags: {
      ...MODEL,
      lengths: { kind: 'text', value: 'LIST', help: 'prompt tokens (default 128,512,2048)' },
      rounds: { kind: 'whole', value: 'N', help: 'prompts of each length, best and median are told (default 5)' },
    },
  },
  decode: {
    help: "the engine's loop over a model of synthetic weights: tokens per second, time between tokens, bytes, kernels",
    flags: {
      ...MODEL,
      context: { kind: 'whole', value: 'N', help: 'prompt tokens (default 512)' },
      tokens: { kind: 'whole', value: 'N', help: 'decode steps after them (default 512)' },
      'run-ahead': {
        kind: 'whole',
        words: ['auto'],
        value: 'auto|N',
        help: 'steps in flight on the GPU (default auto)',
      },
      sweep: { kind: 'switch', help: 'by run-ahead 1, 2, 4, 8 and auto, then by context 128, 1k, 4k, 16k and 32k' },
      rounds: { kind: 'whole', value: 'N', help: 'answers of each row, best and median are told (default 3)' },
      constrained: { kind: 'switch', help: 'the same answers inside a JSON schema, too, in turns with free ones' },
    },
  },
  quality: {
    help: 'q8 activations against f32 on the same weights, in q8 and in q4: perplexity and top-1 agreement on 20 stories; with --kv q8 also KV q8 against f16',
    flags: {
      tokens: { kind: 'whole', value: 'N', help: 'most tokens of a story (default 200)' },
      kv: KV,
      step: MODEL.step,
      model: { kind: 'text', value: 'DIR|FILE.gguf|URL', help: 'default: the embedded storyteller' },
    },
  },
  step: {
    help: 'fused decode steps beside a page that keeps the GPU busy, and 20 texts fused, plain and in f32',
    flags: {
      shape: MODEL.shape,
      quant: MODEL.quant,
      kv: KV,
      model: { kind: 'text', value: 'DIR|FILE.gguf|URL', help: 'default: synthetic weights of --shape' },
      context: { kind: 'whole', value: 'N', help: 'prompt tokens before the steps of synthetic weights (default 512)' },
      steps: { kind: 'whole', value: 'N', help: 'fused steps alone, and beside the busy page (default 1000)' },
      tokens: { kind: 'whole', value: 'N', help: 'most tokens of a text (default 200)' },
    },
  },
  race: {
    help: 'what a load measures to choose its arithmetic: signed bytes against f32, decode and prefill apart',
    flags: {
      shape: { ...SHAPE, help: 'model shape; may be given again (default llama-3.2-1b and llama-3.1-8b)' },
      quant: MODEL.quant,
      rounds: { kind: 'whole', value: 'N', help: 'races, one after another (default 3)' },
    },
  },
  matrices: {
    help: 'products on subgroup matrices against the textbook, then their times beside those of matmul_q8',
    flags: {
      shape: { ...SHAPE, help: 'model shape; may be given again (default llama-3.2-1b and llama-3.1-8b)' },
      lengths: { kind: 'text', value: 'LIST', help: 'tokens of a pass (default 257,512)' },
    },
  },
  kv: {
    help: 'two chats in turns on one cache: bytes and copies of a parked one, and the first token of one that comes back',
    flags: {
      shape: MODEL.shape,
      quant: MODEL.quant,
      kv: KV,
      activations: MODEL.activations,
      lengths: { kind: 'text', value: 'LIST', help: 'prompt tokens of each chat (default 512,1024,4096)' },
      rounds: { kind: 'whole', value: 'N', help: 'turns of each length, medians are told (default 3)' },
    },
  },
  sdk: {
    help: "what the clients of OpenAI's interface cost the page's main thread for each token",
    flags: {
      browsers: { kind: 'whole', value: 'N', help: 'fresh browsers, one after another: all rounds count (default 1)' },
      tokens: { kind: 'whole', value: 'N', help: 'tokens of an answer (default 512)' },
      rounds: { kind: 'whole', value: 'N', help: 'answers of each row, the median is told (default 3)' },
      model: { kind: 'text', value: 'DIR|FILE.gguf|URL', help: 'default: the embedded storyteller' },
    },
  },
} as const satisfies Record<SuiteName, { help: string; flags: Flags }>;

const { temperature, topK, topP, minP } = GENERATE_OPTIONS;
const { repetitionPenalty, presencePenalty, frequencyPenalty, logitBias, logprobs } = GENERATE_OPTIONS;
const DRAW = { temperature, topK, topP, minP };
/** Options of answers that decode measures beside greedy ones. */
const ANSWER = { ...DRAW, repetitionPenalty, presencePenalty, frequencyPenalty, logitBias, logprobs };

/** The flags of all suites, as one suite sees them that has them all. */
type SuiteValues = Partial<
  Values<
    typeof COMMON &
      Omit<(typeof SUITES)['decode']['flags'], 'shape' | 'attention'> &
      Pick<(typeof SUITES)['baseline']['flags'], 'model'> &
      Pick<(typeof SUITES)['attention']['flags'], 'lengths'> &
      Pick<(typeof SUITES)['step']['flags'], 'steps'> &
      Pick<(typeof SUITES)['tune']['flags'], 'only'>
  >
> & { shape?: ShapeName[]; attention?: AttentionFlag | AttentionFlag[]; help?: boolean };

type AttentionFlag = (typeof SIBLINGS)[number];

export function benchUsage(): string {
  const suites = Object.entries(SUITES).flatMap(([name, { help, flags }]) => [`${name}: ${help}`, ...flagLines(flags)]);
  const answers = ['decode, answers measured in turns with greedy ones:', ...flagLines(flagsOf(ANSWER))];
  const common = ['every suite:', ...flagLines(COMMON)];
  const lines = ['Usage: npm run --silent bench -- SUITE [flags]', '', ...suites, ...answers, ...common];
  return [...lines, ...flagLines({ help: { kind: 'switch', help: 'this text' } })].join('\n');
}

function readLengths(list: string | undefined): number[] | null {
  if (list === undefined) return null;
  const lengths = list.split(',').map(Number);
  if (lengths.every((length) => Number.isSafeInteger(length) && length > 0)) return lengths;
  throw new UsageError(`--lengths ${list}: not a list of whole numbers above 0, as in 128,512.`);
}

function readSuite(name: string | undefined): SuiteName {
  if (name !== undefined && Object.hasOwn(SUITES, name)) return name as SuiteName;
  const choice = `choose ${Object.keys(SUITES).join(', ')}`;
  throw new UsageError(
    name === undefined || name.startsWith('--') ? `Which suite? Please ${choice}.` : `No suite ${name}: ${choice}.`,
  );
}

function standardShapes(suite: SuiteName, quick: boolean): ShapeName[] {
  if (quick) return ['tiny'];
  if (suite === 'tune') return ['llama-3.1-8b'];
  if (suite === 'race' || suite === 'matrices') return ['llama-3.2-1b', 'llama-3.1-8b'];
  return MADE_UP.includes(suite) ? ['llama-3.2-1b'] : STANDARD_SHAPES;
}

function siblings(suite: SuiteName, asked: SuiteValues['attention']): AttentionFlag[] {
  if (asked !== undefined) return [...new Set([asked].flat())];
  return MADE_UP.includes(suite) ? ['auto'] : [...SIBLINGS];
}

/** The numbers of a request that does not name them. */
const STANDARDS = {
  context: 512,
  tokens: { decode: 512, quality: 200, step: 200 },
  steps: 1000,
  rounds: { decode: 3, prefill: 5 },
};
const QUICK = { context: { decode: 32, baseline: 64 }, tokens: 16, steps: 8, rounds: 1 };

function standardNumbers(suite: SuiteName, quick: boolean) {
  if (quick) return { ...QUICK, context: suite === 'baseline' ? QUICK.context.baseline : QUICK.context.decode };
  const { context, tokens, steps, rounds } = STANDARDS;
  return {
    context,
    tokens: suite === 'quality' || suite === 'step' ? tokens[suite] : tokens.decode,
    steps,
    rounds: suite === 'prefill' ? rounds.prefill : rounds.decode,
  };
}

function count(name: string, number: number): number {
  if (number < 1) throw new UsageError(`--${name} ${number}: at least 1.`);
  return number;
}

function requestOf(suite: SuiteName, values: SuiteValues): CommandLine['request'] {
  const quick = values.quick === true;
  const standard = standardNumbers(suite, quick);
  const runAhead = values['run-ahead'] ?? 'auto';
  return {
    suite,
    quick,
    shapes: [...new Set(values.shape ?? standardShapes(suite, quick))],
    attention: siblings(suite, values.attention),
    lengths: readLengths(values.lengths),
    kv: values.kv ?? 'f16',
    context: count('context', values.context ?? standard.context),
    quant: values.quant ?? 'q4',
    tokens: count('tokens', values.tokens ?? standard.tokens),
    runAhead: runAhead === 'auto' ? 'auto' : count('run-ahead', runAhead),
    activations: values.activations ?? 'auto',
    only: values.only ?? null,
    step: values.step ?? 'auto',
    answer: suite === 'decode' ? optionsOf(ANSWER, values) : {},
    sweep: values.sweep === true,
    constrained: values.constrained === true,
    tuned: values.tuned === true,
    steps: count('steps', values.steps ?? standard.steps),
    madeUp: values.model === undefined,
    rounds: count('rounds', values.rounds ?? standard.rounds),
  };
}

/** @throws UsageError */
export function parseBench(args: readonly string[]): CommandLine | 'help' {
  if (args.includes('--help')) return 'help';
  const [name, ...rest] = args;
  const suite = readSuite(name);
  const answers = suite === 'decode' ? flagsOf(ANSWER) : {};
  const values: SuiteValues = readFlags({ ...answers, ...SUITES[suite].flags, ...COMMON }, rest);
  return {
    json: values.json === true,
    model: values.model,
    browsers: count('browsers', values.browsers ?? 1),
    request: requestOf(suite, values),
  };
}
