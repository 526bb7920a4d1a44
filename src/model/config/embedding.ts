// The way from the vectors of a text's tokens to its own, as the files of a model describe it.

import { UnsupportedModelError } from '../../errors';
import type { ModelFiles } from '../../storage/model_files';
import type { EmbeddingConfig } from './config';
import { ConfigReader, MAX } from './reader';

type Module = NonNullable<ModelFiles['modules']>[number];

/**
 * Reads the modules of sentence-transformers: one pooling, linear layers without bias and activation, and at most one
 * normalization, which comes last.
 * @throws UnsupportedModelError for any other module
 */
export function embeddingFromModules(modules: readonly Module[]): EmbeddingConfig {
  const [first, ...others] = modules;
  if (first?.type !== 'Pooling') throw refuse(first?.type ?? 'none', 'in the place of the pooling');
  const normalized = others.at(-1)?.type === 'Normalize';
  const dense = normalized ? others.slice(0, -1) : others;
  return { pooling: readPooling(first), normalized, dense: dense.map(readDense) };
}

function readPooling({ path, config }: Module): EmbeddingConfig['pooling'] {
  const read = new ConfigReader(`${path}/config.json`, (key) => config?.[key]);
  const named = read.text('pooling_mode');
  const modes = named === null ? POOLINGS.filter((mode) => read.flag(`pooling_mode_${mode}`, false)) : [named];
  if (modes.length === 1 && (modes[0] === 'lasttoken' || modes[0] === 'last')) return 'last';
  if (modes.length === 1 && (modes[0] === 'mean_tokens' || modes[0] === 'mean')) return 'mean';
  throw refuse('Pooling', `of the kind ${modes.join(' and ').slice(0, 80) || 'none'}`);
}

/** Kinds of pooling in the older spelling, each a flag `pooling_mode_<kind>`. */
const POOLINGS = ['cls_token', 'mean_tokens', 'max_tokens', 'mean_sqrt_len_tokens', 'weightedmean_tokens', 'lasttoken'];

/** The size of the layer's output. */
function readDense({ type, path, config }: Module): number {
  if (type !== 'Dense') throw refuse(type, 'behind the pooling');
  const read = new ConfigReader(`${path}/config.json`, (key) => config?.[key]);
  const activation = read.text('activation_function') ?? 'Tanh';
  const { module_input_name: input, module_output_name: output } = config ?? {};
  const isElsewhere = [input, output].some((name) => name !== undefined && name !== 'sentence_embedding');
  if (isElsewhere || read.flag('bias', true) || read.flag('use_residual', false) || !activation.endsWith('.Identity')) {
    throw refuse(type, 'with a bias, a residual connection, an activation or an input of its own');
  }
  return read.count('out_features', MAX.hidden);
}

function refuse(type: string, where: string): UnsupportedModelError {
  return new UnsupportedModelError(
    `modules.json: the module ${type.slice(0, 80)} ${where} is not supported. Choose a model with mean or last pooling, ` +
      'linear layers without bias and activation, and a normalization.',
  );
}
