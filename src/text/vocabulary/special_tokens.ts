// Which tokens begin a text, and which end an answer.

import type { JsonObject } from '../../shared/json_object';
import { asArray, asId, tokenContent } from '../json';

/** Control tokens that end a turn, a call of a tool or a text in the model families at hand, where no configuration names
 *  them; the names by which llama.cpp ends an answer. */
export const END_TOKENS: ReadonlySet<string> = new Set([
  '</s>',
  '<|endoftext|>',
  '<|end_of_text|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|im_end|>',
  '<|end|>',
  '<|return|>',
  '<|call|>',
  '<|calls|>',
  '<|flush|>',
  '<end_of_turn>',
  '<turn|>',
  '<|tool_response>',
  '<end_of_utterance>',
  '<eos>',
  '<EOT>',
  '_<EOT>',
  '[EOT]',
  '[EOS]',
  '[e~[',
  '<|eos|>',
  '<\uff5cend\u2581of\u2581sentence\uff5c>',
  // Another file begins: models that also fill in code go on with these.
  '<|fim_pad|>',
  '<|repo_name|>',
  '<|file_sep|>',
]);

/** In these vocabularies the token ends a part of an answer, not the answer. */
const NOT_THE_END: readonly { readonly token: string; readonly beside: readonly string[] }[] = [
  { token: '<|end|>', beside: ['<|return|>', '<|call|>'] },
  { token: '<|end|>', beside: ['<|calls|>', '<|flush|>'] },
  { token: '</s>', beside: ['<|tool_response>'] },
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
  const added = (token: string) => {
    const id = idOf(token);
    return id !== undefined && isAdded(id) ? id : null;
  };
  const goesOn = (token: string) =>
    NOT_THE_END.some((rule) => rule.token === token && rule.beside.every((other) => added(other) !== null));
  const ids = [
    eosToken === null ? null : (idOf(eosToken) ?? null),
    ...generated('eos_token_id'),
    fromGguf('eos'),
    fromGguf('eot'),
    fromGguf('eom'),
    ...asArray(gguf?.get('tokenizer.ggml.eog_token_ids')).map(asId),
    ...[...END_TOKENS].filter((token) => !goesOn(token)).map(added),
  ];
  const eosIds = [...new Set(ids)].filter((id): id is number => id !== null && tokenOf(id) !== undefined);
  return { bosToken, eosToken, eosIds };
}
