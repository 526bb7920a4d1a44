// Whether a GGUF file is a part of a split one, by its name and by what it says.

import type { GgufValue, parseGguf } from './gguf';

export type Gguf = Awaited<ReturnType<typeof parseGguf>>;

export const PART_NAME = /^(.*)-(\d{5})-of-(\d{5})(\.gguf)$/i;

/** The name of the first part of a split file, or `name` for any other file. */
export function firstPart(name: string): string {
  return name.replace(PART_NAME, '$1-00001-of-$3$4');
}

/** Parts of the file that this one belongs to, as it says. */
export function countParts({ metadata }: Gguf): number {
  return numberOf(metadata, 'split.count') ?? 1;
}

export function numberOf(metadata: ReadonlyMap<string, GgufValue>, key: string): number | null {
  const value = metadata.get(key);
  return typeof value === 'number' ? value : null;
}
