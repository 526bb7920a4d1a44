// Finds the chat template among the files of a model.

import { asArray, asObject, asString } from '../json';
import type { TokenizerFiles } from '../tokenizer_files';

/**
 * The chat template of a model, from tokenizer_config.json (one template, or a list of named ones) or GGUF metadata.
 */
export function findChatTemplate(files: TokenizerFiles): string | null {
  const template = files.tokenizerConfig?.chat_template;
  const named = new Map<unknown, unknown>(Object.entries(asObject(template) ?? {}));
  for (const entry of asArray(template)) named.set(asObject(entry)?.name, asObject(entry)?.template);
  return (
    asString(template) ?? asString(named.get('default')) ?? asString(files.gguf?.get('tokenizer.chat_template')) ?? null
  );
}
