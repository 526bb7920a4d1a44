// The modules that a sentence-transformers folder puts behind its language model.

import { ModelFileError } from '../errors';
import { isJsonObject, type JsonObject } from '../shared/json_object';
import { isPlainName, quoted } from './checks/bounds';
import { parseSafetensors } from './formats/safetensors';
import type { TensorInfo } from './formats/tensor';
import { WEIGHTS } from './formats/weight_names';
import type { ModelFolder } from './source/byte_source';

const MAX_MODULES = 16;

export interface SentenceModule {
  /** The last word of its Python class, such as `Pooling`, `Dense` or `Normalize`. */
  type: string;
  /** Its folder. */
  path: string;
  config: JsonObject | null;
}

/**
 * The modules behind the first, and their tensors, named `path/name`.
 * @param modules the contents of modules.json
 * @throws ModelFileError for a malformed list
 */
export async function openModules(
  folder: ModelFolder,
  modules: readonly unknown[],
  readJson: (folder: ModelFolder, path: string) => Promise<JsonObject | null>,
): Promise<{ modules: SentenceModule[]; tensors: TensorInfo[] }> {
  if (modules.length > MAX_MODULES) {
    throw new ModelFileError('modules.json', `names ${modules.length} modules; at most ${MAX_MODULES} are accepted.`);
  }
  const opened: SentenceModule[] = [];
  const tensors: TensorInfo[] = [];
  for (const entry of modules) {
    const { type, path } = checkEntry(entry);
    if (type === 'Transformer') continue;
    const inner = folder.inner(path);
    const weights = type === 'Normalize' ? null : await inner.open(WEIGHTS);
    opened.push({ type, path, config: type === 'Normalize' ? null : await readJson(inner, 'config.json') });
    for (const tensor of weights ? await parseSafetensors(weights) : []) {
      tensors.push({ ...tensor, name: `${path}/${tensor.name}` });
    }
  }
  return { modules: opened, tensors };
}

function checkEntry(entry: unknown): { type: string; path: string } {
  const { type, path } = isJsonObject(entry) ? entry : {};
  const name = typeof type === 'string' ? type.slice(type.lastIndexOf('.') + 1) : '';
  if (name !== '' && typeof path === 'string' && (name === 'Transformer' || isPlainName(path))) {
    return { type: name, path };
  }
  throw new ModelFileError(
    'modules.json',
    `has a module without a type and a plain folder name: ${quoted(String(path))}.`,
  );
}
