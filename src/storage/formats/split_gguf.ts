// GGUF files that are split into several parts. A part of the engine, too: it comes with the first such file.

import { ModelFetchError, ModelFileError } from '../../errors';
import { isPlainName, quoted } from '../checks/bounds';
import type { ByteSource, ModelFolder } from '../source/byte_source';
import { parseGguf } from './gguf';
import { type Gguf, numberOf, PART_NAME } from './gguf_parts';
import type { TensorInfo } from './tensor';

const MAX_PARTS = 1024;

/**
 * Opens all parts of a split file, of which `source` is one, parsed as `asked`: tensors part by part, metadata of the
 * first part. Source: llama.cpp tools/gguf-split. Names: name-00001-of-00003.gguf; split.no counts from 0,
 * split.tensors.count is the total.
 * @throws ModelFileError if a part's number, count or tensors contradict its name or the other parts
 * @throws ModelFetchError for a missing part
 */
export async function openGgufParts(
  source: ByteSource,
  folder: ModelFolder,
  asked: Gguf,
  count: number,
): Promise<Gguf> {
  const names = partNames(source.name, count);
  const tensors = new Map<string, TensorInfo>();
  let metadata = asked.metadata;
  let announced: number | null = null;
  for (const [no, name] of names.entries()) {
    const part = name === source.name ? asked : await parseGguf(await openPart(folder, name, count));
    checkPart(part.metadata, name, no, count);
    announced ??= numberOf(part.metadata, 'split.tensors.count');
    if (numberOf(part.metadata, 'split.tensors.count') !== announced) throw mixed(name, names[0]);
    if (no === 0) metadata = part.metadata;
    for (const tensor of part.tensors) {
      if (tensors.has(tensor.name))
        throw new ModelFileError(name, `repeats tensor ${quoted(tensor.name)} of a part before.`);
      tensors.set(tensor.name, tensor);
    }
  }
  if (announced !== null && announced !== tensors.size) {
    const what = `announces ${announced} tensors for its ${count} parts, which hold ${tensors.size}`;
    throw new ModelFileError(names[0], `${what}. Get all parts anew, from one place.`);
  }
  return { metadata, tensors: [...tensors.values()] };
}

function partNames(name: string, count: number): string[] {
  const [, stem, , total, ending] = PART_NAME.exec(name) ?? [];
  if (!Number.isInteger(count) || count > MAX_PARTS) {
    throw new ModelFileError(name, `is one of ${count} parts; at most ${MAX_PARTS} are accepted.`);
  }
  if (total === undefined || Number(total) !== count || !isPlainName(name)) {
    const due = `name-00001-of-${String(count).padStart(5, '0')}.gguf`;
    throw new ModelFileError(
      name,
      `is one of ${count} parts, but is not called like one. Name the parts ${due} and so on.`,
    );
  }
  return Array.from({ length: count }, (_, i) => `${stem}-${String(i + 1).padStart(5, '0')}-of-${total}${ending}`);
}

async function openPart(folder: ModelFolder, name: string, count: number): Promise<ByteSource> {
  const source = await folder.open(name);
  if (source) return source;
  throw new ModelFetchError(
    folder.name,
    null,
    `${folder.name} lacks ${name}, one of the ${count} parts of this model. Add it.`,
  );
}

function checkPart(metadata: Gguf['metadata'], name: string, no: number, count: number): void {
  const own = numberOf(metadata, 'split.no');
  const total = numberOf(metadata, 'split.count');
  if (own === no && total === count) return;
  const says =
    own === null || total === null ? 'says that it is no part' : `says that it is part ${own + 1} of ${total}`;
  throw new ModelFileError(name, `${says}, not part ${no + 1} of ${count}. Give the parts the names they came with.`);
}

function mixed(name: string, first: string): ModelFileError {
  return new ModelFileError(name, `belongs to another model than ${first}. Use the parts of one model only.`);
}
