// Finds the chat template among the files of a model.

import { asArray, asObject, asString } from '../json';
import type { TokenizerFiles } from '../tokenizer_files';

/**
 * The chat template of a model, from tokenizer_config.json (one template, or a list of named ones) or GGUF metadata. A
 * template named `tool_use` becomes its branch for conversations with tools: transformers chooses it for these.
 */
export function findChatTemplate({ tokenizerConfig, gguf }: TokenizerFiles): string | null {
  const given = tokenizerConfig?.chat_template;
  const named = new Map<unknown, unknown>(Object.entries(asObject(given) ?? {}));
  for (const entry of asArray(given)) named.set(asObject(entry)?.name, asObject(entry)?.template);
  const own = asString(given) ?? asString(named.get('default'));
  const template = own ?? asString(gguf?.get('tokenizer.chat_template'));
  const withTools = asString(own === null ? gguf?.get('tokenizer.chat_template.tool_use') : named.get('tool_use'));
  return template === null || withTools === null
    ? template
    : `{% if tools %}${branch(withTools)}{% else %}${branch(template)}{% endif %}`;
}

/** A template that renders the same inside a block: with the line breaks and spaces at its edges. */
function branch(source: string): string {
  return `\n${source.replace(/\n$/, '')}{{ '' }}`;
}
