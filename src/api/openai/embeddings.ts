// POST /v1/embeddings.

import { ApiError } from './http/errors';
import type { ApiCall } from './http/http_request';
import type { EmbeddingRequest } from './http/wire_types';
import { either, integer, list, object, text, word } from './request/schema';

const MAX_TEXTS = 2048;

const EMBEDDING_REQUEST = object({
  'input!': either(text, list(text, 1, MAX_TEXTS)),
  dimensions: integer(1),
  encoding_format: word('float', 'base64'),
});

export async function embed({ engine, json, model, signal }: ApiCall): Promise<Response> {
  if (!engine.embed) throw new ApiError(400, 'This model gives no embeddings.', 'unsupported_model', 'model');
  EMBEDDING_REQUEST(json, '');
  const { input, dimensions, encoding_format } = json as unknown as EmbeddingRequest;
  const options = { signal, dimensions: dimensions ?? undefined };
  const { vectors, promptTokens } = await engine.embed(typeof input === 'string' ? [input] : input, options);
  const toWire = encoding_format === 'base64' ? toBase64 : Array.from<number>;
  const data = vectors.map((vector, index) => ({ object: 'embedding', index, embedding: toWire(vector) }));
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  return Response.json({ object: 'list', data, model, usage });
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
