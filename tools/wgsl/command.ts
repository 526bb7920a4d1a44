// The wgsl command: prints the shaders that a kernel compiles, with a mark that names the file before each piece.

import { WEIGHT_FORMATS, type WeightFormat } from '../../src/kernels/linear/weight_format';
import { FILE_TYPES, type FileType } from '../../src/kernels/load/file_types';
import { flagLines, readFlags, UsageError } from '../lib/command_line/flags';
import { DEFAULTS, KERNELS, type KernelOptions } from './kernels';
import { type RecordedShader, recordingGpu } from './recording_gpu';

const USAGE_ERROR = 2;
const SUBGROUP_SIZE = 32;

const FLAGS = {
  format: {
    kind: 'text',
    words: Object.keys(WEIGHT_FORMATS) as WeightFormat[],
    value: 'F',
    help: `of the weights: ${Object.keys(WEIGHT_FORMATS).join(', ')} (default ${DEFAULTS.format})`,
  },
  'file-type': {
    kind: 'text',
    words: Object.keys(FILE_TYPES) as FileType[],
    value: 'T',
    help: `for repack: ${Object.keys(FILE_TYPES).join(', ')} (default ${DEFAULTS.fileType})`,
  },
  activations: { kind: 'text', words: ['q8', 'f32'], help: `default ${DEFAULTS.activations}` },
  kv: { kind: 'text', words: ['f16', 'f32', 'q8'], help: `keys and values (default ${DEFAULTS.kvType})` },
  gate: { kind: 'text', words: ['silu', 'gelu_tanh'], help: `activation of the gate (default ${DEFAULTS.activation})` },
  prefill: { kind: 'switch', help: 'a pass of many tokens' },
  windowed: { kind: 'switch', help: 'some layer has a window' },
  softcap: { kind: 'number', value: 'N', help: 'cap of attention scores, or of logits' },
  subgroups: { kind: 'whole', value: 'N', help: `the smallest subgroup; 0: none (default ${SUBGROUP_SIZE})` },
  'no-immediates': { kind: 'switch', help: 'the step comes in a uniform buffer' },
} as const;

const NAMES = Object.keys(KERNELS).join(', ');

export const USAGE = [
  'Usage: npm run --silent wgsl -- KERNEL [flags]   prints what is compiled, at the sizes of the storyteller',
  `Kernels: ${NAMES}`,
  ...flagLines({ ...FLAGS, help: { kind: 'switch', help: 'this text' } }),
].join('\n');

/** The sources of a kernel, each once. */
export async function shadersOf(
  kernel: string,
  options: Partial<KernelOptions> = {},
  gpuOptions = { subgroupSize: SUBGROUP_SIZE, immediates: true },
): Promise<readonly RecordedShader[]> {
  const { gpu, shaders } = await recordingGpu(gpuOptions);
  await KERNELS[kernel]?.(gpu, { ...DEFAULTS, ...options });
  return shaders;
}

/** The sources that a command line asks for, or the usage. */
async function answer(argv: readonly string[]): Promise<readonly string[]> {
  const named = argv[0]?.startsWith('-') ? '' : (argv[0] ?? '');
  const flags = readFlags(FLAGS, named === '' ? argv : argv.slice(1));
  if (flags.help) return [USAGE];
  if (!Object.hasOwn(KERNELS, named)) {
    throw new UsageError(`${named === '' ? 'Name a kernel' : `${named} is no kernel`}. Kernels: ${NAMES}`);
  }
  const { softcap = null, subgroups: subgroupSize = SUBGROUP_SIZE } = flags;
  if (softcap !== null && softcap <= 0) throw new UsageError(`--softcap ${softcap}: not a positive number.`);
  if (subgroupSize < 0) throw new UsageError(`--subgroups ${subgroupSize}: below 0.`);
  const options: KernelOptions = {
    format: flags.format ?? DEFAULTS.format,
    fileType: flags['file-type'] ?? DEFAULTS.fileType,
    activations: flags.activations ?? DEFAULTS.activations,
    kvType: flags.kv ?? DEFAULTS.kvType,
    activation: flags.gate ?? DEFAULTS.activation,
    prefill: flags.prefill ?? DEFAULTS.prefill,
    windowed: flags.windowed ?? DEFAULTS.windowed,
    softcap,
  };
  const shaders = await shadersOf(named, options, { subgroupSize, immediates: !flags['no-immediates'] });
  return shaders.map(({ label, code }) => `// ${label}\n${code}`);
}

/** Prints the answer. Returns the exit code: 0, 1 for a kernel that these flags do not allow, else 2. */
export async function wgslCommand(
  argv: readonly string[],
  print: (text: string) => void = console.log,
  complain: (text: string) => void = console.error,
): Promise<number> {
  try {
    for (const text of await answer(argv)) print(text);
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    complain(isUsage ? `${error.message}\n(--help lists kernels and flags)` : (error as Error).message);
    return isUsage ? USAGE_ERROR : 1;
  }
}
