// External data for some tests: vocabularies of published models with expected ids, too large for the project. Tests
// without their data are skipped and say so.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TokenizerFiles } from '../../src/text/tokenizer_files';

export type Json = Record<string, unknown>;

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const DATA = fileURLToPath(new URL('../../../shared/data/', import.meta.url));

export const projectFile = (path: string) => `${REPOSITORY}${path}`;
export const dataFile = (path: string) => `${DATA}${path}`;
export const hasData = (path: string) => existsSync(dataFile(path));

export const readText = (path: string) => readFileSync(dataFile(path), 'utf8');

export function readJson(path: string): Json {
  return JSON.parse(readFileSync(path, 'utf8')) as Json;
}

export function files(parts: Partial<TokenizerFiles>): TokenizerFiles {
  return { tokenizerJson: null, tokenizerConfig: null, generationConfig: null, gguf: null, ...parts };
}

export interface Vector {
  text: string;
  ids: number[];
}

export function vectors(name: string): Vector[] {
  return (readJson(dataFile('tokenizers/vectors.json')) as Record<string, Vector[]>)[name];
}
