// POST /v1/embeddings.

import type { Fields } from './fields';
import type { ApiCall } from './openai_chat';
import { ApiError } from './openai_errors';

const MAX_TEXTS = 2048;

export async function embed({ engine, body, model, signal }: ApiCall): Promise<Response> {
  if (!engine.embed) throw new ApiError(400, `The model ${model} gives no embeddings.`, 'unsupported_model', 'model');
  const texts = readTexts(body);
  const dimensions = body.integer('dimensions', 1);
  const isBase64 = body.word('encoding_format', ['float', 'base64']) === 'base64';
  const result = engine.embed(texts, { signal, ...(dimensions !== undefined && { dimensions }) });
  const { vectors, promptTokens } = await result;
  const data = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: isBase64 ? toBase64(vector) : Array.from(vector),
  }));
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  return Response.json({ object: 'list', data, model, usage });
}

function readTexts(body: Fields): readonly string[] {
  if (typeof body.json.input === 'string') return [body.json.input];
  const texts = body.need('input', body.list('input'));
  if (texts.some((text) => typeof text === 'number' || Array.isArray(text)))
    throw body.unsupported('input', 'token ids are not taken, send texts');
  if (texts.length > 0 && texts.length <= MAX_TEXTS && texts.every((text) => typeof text === 'string')) return texts;
  throw body.wrong('input', `must be a text or a list of 1 to ${MAX_TEXTS} texts`);
}

/** Bytes that become characters at once: a call takes only so many arguments. */
const PIECE_BYTES = 4096;

/** Little-endian float32, as clients read it. */
function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  let text = '';
  for (let i = 0; i < byteLength; i += PIECE_BYTES) text += String.fromCharCode(...bytes.subarray(i, i + PIECE_BYTES));
  return btoa(text);
}
