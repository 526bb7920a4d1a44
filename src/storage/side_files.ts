// The text files beside a model's weights.

import { ModelFetchError } from '../errors';
import type { JsonObject } from '../shared/json_object';
import { checkTextSize } from './checks/bounds';
import { decodeUtf8, parseJsonObject } from './checks/json';
import type { SideFiles } from './model_files';
import type { ByteSource, ModelFolder } from './source/byte_source';
import { WebPageError } from './source/http';

export async function readSideFiles(folder: ModelFolder): Promise<SideFiles> {
  const [generationConfig, tokenizerJson, tokenizerConfig] = await Promise.all([
    readJson(folder, 'generation_config.json'),
    readJson(folder, 'tokenizer.json'),
    readTokenizerConfig(folder),
  ]);
  return { generationConfig, tokenizerJson, tokenizerConfig };
}

/** A chat template in a file of its own comes before that of the configuration, as in transformers. */
async function readTokenizerConfig(folder: ModelFolder): Promise<JsonObject | null> {
  const [config, template] = await Promise.all([
    readJson(folder, 'tokenizer_config.json'),
    optional(folder.open('chat_template.jinja', 'text')),
  ]);
  return template ? { ...config, chat_template: await readText(template) } : config;
}

export async function readJson(
  folder: ModelFolder,
  path: string,
  rules: { uniqueKeys?: boolean } = {},
): Promise<JsonObject | null> {
  const source = await optional(folder.open(path, 'json'));
  return source ? parseJsonObject(source.name, await readText(source), rules) : null;
}

export async function readText(source: ByteSource): Promise<string> {
  checkTextSize(source.name, source.size);
  return decodeUtf8(source.name, 'its text', await source.read(0, source.size));
}

/**
 * Treats two errors of an optional file as absence. Once config.json was served, an HTML page means that the server
 * answers every path with its start page, and 403 means that it does not tell missing files from forbidden ones.
 */
export async function optional(opening: Promise<ByteSource | null>): Promise<ByteSource | null> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof WebPageError || (error instanceof ModelFetchError && error.status === 403)) return null;
    throw error;
  }
}
