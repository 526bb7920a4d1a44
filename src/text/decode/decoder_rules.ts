// Tokens to bytes by the decoder rules of tokenizer.json.

import { TokenizerError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import { byteOfToken, utf8Bytes } from '../byte_alphabet';
import { asArray, asObject, asString } from '../json';
import { characterOf, shown } from '../rule_text';
import { BYTE_LEVEL, type ByteRules } from './token_bytes';

/** `spelledInBytes`: words are written in the byte alphabet, which decides the rules of a file without a decoder. */
export function createByteRules(decoder: JsonObject | null, spelledInBytes: boolean): ByteRules {
  const steps = decoder ? flatten(decoder) : [];
  if (steps.some((step) => step.type === 'ByteLevel') || (steps.length === 0 && spelledInBytes)) {
    return BYTE_LEVEL;
  }
  if (steps.length === 1 && steps[0].type === 'WordPiece') return wordPieceRules(steps[0]);
  const replacements: [string, string][] = [];
  let dropFirstSpace = false;
  let byteFallback = false;
  for (const step of steps) {
    if (step.type === 'Replace') {
      const from = asString(asObject(step.pattern)?.String);
      if (from) replacements.push([from, asString(step.content) ?? '']);
      else throw new TokenizerError('The tokenizer decodes with a regular expression, which is not supported.');
    } else if (step.type === 'Metaspace') {
      replacements.push([characterOf(step, 'replacement', '\u2581'), ' ']);
      dropFirstSpace = step.prepend_scheme !== 'never' && step.add_prefix_space !== false;
    } else if (step.type === 'Strip') {
      dropFirstSpace = step.content === ' ' && typeof step.start === 'number' && step.start > 0;
    } else if (step.type === 'ByteFallback') {
      byteFallback = true;
    } else if (step.type !== 'Fuse') {
      throw new TokenizerError(`The tokenizer's decoder "${shown(step.type)}" is not supported.`);
    }
  }
  return { dropFirstSpace, bytes };

  function bytes(token: string): Uint8Array {
    const byte = byteFallback ? byteOfToken(token) : null;
    if (byte !== null) return Uint8Array.of(byte);
    return utf8Bytes(replacements.reduce((text, [from, to]) => text.replaceAll(from, () => to), token));
  }
}

/**
 * A piece with the prefix continues a word; others begin with a space. The reference cleans up each token by itself.
 */
function wordPieceRules(decoder: JsonObject): ByteRules {
  const prefix = asString(decoder.prefix) ?? '##';
  const tidied = decoder.cleanup === false ? [] : TIDIED;
  const bytes = (token: string) => {
    const text = token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`;
    return utf8Bytes(tidied.reduce((tidy, [from, to]) => tidy.replaceAll(from, to), text));
  };
  return { dropFirstSpace: true, bytes };
}

/** The part of the reference's clean-up that applies to single tokens. */
const TIDIED = ['.', '?', '!', ',', "n't", "'m", "'s", "'ve", "'re"].map((end) => [` ${end}`, end] as const);

function flatten(decoder: JsonObject): JsonObject[] {
  if (decoder.type !== 'Sequence') return [decoder];
  return asArray(decoder.decoders).flatMap((step) => flatten(asObject(step) ?? {}));
}
