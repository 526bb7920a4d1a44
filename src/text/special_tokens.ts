// Which tokens begin a text, and which end an answer.

import { asArray, asId, type JsonObject, tokenContent } from './json';

/** Control tokens that end a turn or a text in the model families at hand, where no configuration names them. */
const END_TOKENS = [
  '</s>',
  '<|endoftext|>',
  '<|end_of_text|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|im_end|>',
  '<|end|>',
  '<|return|>',
  '<end_of_turn>',
  '<end_of_utterance>',
  '<EOT>',
  '_<EOT>',
  '[EOT]',
  '[EOS]',
  '<|eos|>',
  '<\uff5cend\u2581of\u2581sentence\uff5c>',
];

export interface SpecialTokens {
  readonly bosToken: string | null;
  readonly eosToken: string | null;
  readonly eosIds: readonly number[];
}

export function findSpecialTokens(
  config: JsonObject,
  generationConfig: JsonObject | null,
  gguf: ReadonlyMap<string, unknown> | null,
  idOf: (token: string) => number | undefined,
  tokenOf: (id: number) => string | undefined,
  isAdded: (id: number) => boolean,
): SpecialTokens {
  const generated = (key: string) => [generationConfig?.[key]].flat().map(asId);
  const fromGguf = (name: string) => asId(gguf?.get(`tokenizer.ggml.${name}_token_id`));
  const text = (id: number | null | undefined) => (id == null ? null : (tokenOf(id) ?? null));

  const bosToken = tokenContent(config.bos_token) ?? text(fromGguf('bos')) ?? text(generated('bos_token_id')[0]);
  const eosToken = tokenContent(config.eos_token) ?? text(fromGguf('eos')) ?? text(generated('eos_token_id')[0]);
  const ids = [
    eosToken === null ? null : (idOf(eosToken) ?? null),
    ...generated('eos_token_id'),
    fromGguf('eos'),
    fromGguf('eot'),
    fromGguf('eom'),
    ...asArray(gguf?.get('tokenizer.ggml.eog_token_ids')).map(asId),
    ...END_TOKENS.map((token) => idOf(token) ?? null).filter((id) => id !== null && isAdded(id)),
  ];
  const eosIds = [...new Set(ids)].filter((id): id is number => id !== null && tokenOf(id) !== undefined);
  return { bosToken, eosToken, eosIds };
}
