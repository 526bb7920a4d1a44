// The model among files that a person has dropped or chosen. The page fetches this part of the engine for them alone.

import { ModelFileError } from '../errors';
import { quoted } from './checks/bounds';
import { firstPart } from './formats/gguf_parts';
import { SHARD_INDEX, WEIGHTS } from './formats/weight_names';
import { readJson } from './side_files';
import { blobSource } from './source/blob_source';
import type { ByteSource, ModelFolder, OpenOptions } from './source/byte_source';
import { isGguf } from './weights';

/** The folder of the files, and its .gguf file if that is the model. */
export async function droppedModel(
  files: readonly File[],
  options: OpenOptions,
): Promise<{ folder: ModelFolder; gguf: ByteSource | null }> {
  const folder = filesFolder(files, options);
  const ggufs = files.filter((file) => isGguf(file.name));
  const hasSafetensors = files.some(({ name }) => name === WEIGHTS || name === SHARD_INDEX);
  if (ggufs.length === 0 || hasSafetensors) return { folder, gguf: null };
  const config = await readJson(folder, 'config.json');
  if (typeof config?.gguf_file === 'string') return { folder, gguf: null };
  const models = [...new Set(ggufs.map(({ name }) => firstPart(name)))];
  if (models.length > 1) {
    const some = models.slice(0, 8).map(quoted).join(', ');
    throw new ModelFileError(
      folder.name,
      `holds ${models.length} models in .gguf files (${some}). Choose one of them.`,
    );
  }
  const first = await folder.open(models[0]);
  return { folder, gguf: first ?? blobSource(ggufs[0].name, ggufs[0], options) };
}

/**
 * Dropped files as a folder, by base name. Of two equal names the less deep file counts, since repositories repeat
 * config.json in subfolders. `open` throws ModelFileError for two files at equal depth.
 */
export function filesFolder(files: readonly File[], options: OpenOptions = {}): ModelFolder {
  const shallowest = new Map<string, { file: File; depth: number; repeated: boolean }>();
  for (const file of files) {
    const depth = file.webkitRelativePath ? file.webkitRelativePath.split('/').length : 1;
    const known = shallowest.get(file.name);
    if (known && known.depth === depth) known.repeated = true;
    if (!known || depth < known.depth) shallowest.set(file.name, { file, depth, repeated: false });
  }
  return {
    name: files[0]?.webkitRelativePath?.split('/')[0] || 'dropped files',
    inner: (name) =>
      filesFolder(
        files.filter((file) => (file.webkitRelativePath || '').split('/').at(-2) === name),
        options,
      ),
    async open(path) {
      const found = shallowest.get(path);
      if (!found) return null;
      if (found.repeated)
        throw new ModelFileError(path, 'was dropped more than once. Drop the files of one model only.');
      return blobSource(path, found.file, options);
    },
  };
}
