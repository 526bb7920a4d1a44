// What a `fetch` is called with, as one request; and its body, bounded, as JSON.

import { isJsonObject, type JsonObject } from '../../../shared/json_object';
import type { ApiEngine } from '../../api_engine';
import { ApiError, invalid } from './errors';

export interface HttpRequest {
  method: string;
  path: string;
  /** A request stands for its own body. */
  body: BodyInit | Request | null | undefined;
  signal: AbortSignal | undefined;
}

/** A request for an engine. */
export interface ApiCall {
  engine: ApiEngine;
  json: JsonObject;
  /** The name of the model, as the answer gives it. */
  model: string;
  signal: AbortSignal | undefined;
}

/** Most bytes of a body. */
const MAX_BODY = 64e6;
/** Most arrays and objects inside one another in a body. */
const MAX_DEPTH = 64;

/** Relative addresses are legal everywhere, also in a worker from a blob: no host is asked. */
export function readRequest(input: string | URL | Request, init?: RequestInit): HttpRequest {
  const request = typeof input === 'string' || input instanceof URL ? undefined : input;
  return {
    method: (init?.method ?? request?.method ?? 'GET').toUpperCase(),
    path: new URL(request?.url ?? String(input), 'http://page').pathname,
    body: init?.body ?? request,
    signal: init?.signal ?? request?.signal,
  };
}

/** @throws ApiError where the body is too large, too deep, or no JSON object */
export async function readJson({ body }: HttpRequest): Promise<JsonObject> {
  const text = await readText(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {}
  if (!isJsonObject(value)) throw invalid('', 'must be a JSON object');
  if (isDeeper(value, MAX_DEPTH)) throw invalid('', `must be at most ${MAX_DEPTH} levels deep`);
  return value;
}

async function readText(body: HttpRequest['body']): Promise<string> {
  const source = body instanceof Request ? (body.body ?? (await body.text())) : body; // Firefox has no Request.body
  const reader = new Response(source).body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (!value) return text + decoder.decode();
    bytes += value.length;
    if (bytes > MAX_BODY) {
      void reader?.cancel();
      throw new ApiError(413, `The body has more than ${MAX_BODY} bytes.`, 'request_too_large');
    }
    text += decoder.decode(value, { stream: true });
  }
}

function isDeeper(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return limit === 0 || Object.values(value).some((item) => isDeeper(item, limit - 1));
}
