// The package's entry vivace/openai: a `fetch` that answers OpenAI's HTTP interface with engines in this page.
// No request leaves the page: what no engine answers is an error.

import { abortable } from '../../shared/abortable';
import type { JsonObject } from '../../shared/json_object';
import { refuseUnknown } from '../../shared/known_names';
import type { ApiEngine } from '../api_engine';
import { chat } from './chat';
import { ApiError, describeError } from './http/errors';
import { type ApiCall, type HttpRequest, readJson, readRequest } from './http/http_request';
import { object, text } from './request/schema';

export interface FetchOptions {
  /**
   * Engines by the name that requests give as `model`. Default: the first engine answers to every name. With models,
   * any other name than theirs and the first engine's is a 404.
   */
  models?: Readonly<Record<string, ApiEngine>>;
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

type Route = (call: ApiCall) => Promise<Response>;

/** The end of a path. What comes before, such as `/v1`, is the client's to choose. */
const PATH = /\/(chat\/completions|completions|responses|embeddings|models)\/?$|\/models\/(.+)$/;

/**
 * A `fetch` for the clients of OpenAI's interface, such as `new OpenAI({ fetch })`. It answers every address by the end
 * of its path, and sends nothing to the network. `engine` answers requests for a model that has no engine of its own.
 * @throws VivaceError `invalid-request` for an option that is none
 */
export function createFetch(engine: ApiEngine, options?: FetchOptions | null): Fetch {
  const given = options ?? {};
  refuseUnknown(given, ['models']);
  const engines = new Map([[engine.info.model.name, engine], ...Object.entries(given.models ?? {})]);
  const names = [...engines.keys()];
  const noModel = () => {
    return new ApiError(404, `There is no such model here, but ${names.join(', ')}.`, 'model_not_found', 'model');
  };
  const answersAll = engines.size === 1;
  const routes = new Map<string, Route>([
    ['chat/completions', chat],
    // Files of their own, for the few clients that ask for them.
    ['completions', async (call) => (await import('./completions')).complete(call)],
    ['responses', async (call) => (await import('./responses')).respond(call)],
    ['embeddings', async (call) => (await import('./embeddings')).embed(call)],
  ]);
  const answer = async (request: HttpRequest): Promise<Response> => {
    const { method, path } = request;
    const [, name = '', id] = PATH.exec(path) ?? [];
    const route = routes.get(name);
    const expected = route ? 'POST' : 'GET';
    if (!name && !id) throw new ApiError(404, `Nothing here answers ${path}.`, 'unknown_url');
    if (method !== expected) throw new ApiError(405, `${path} takes ${expected}.`, 'method_not_allowed');
    if (!route) {
      if (id === undefined) return Response.json({ object: 'list', data: [...engines].map(card) });
      const encoded = id.replace(/[^\w%]/g, encodeURIComponent); // clients leave some characters as they are
      const found = [...engines].find(([name]) => encodeURIComponent(name) === encoded);
      if (!found) throw noModel();
      return Response.json(card(found));
    }
    const json = await readJson(request);
    object({ model: text })(json, '');
    const model = (json.model ?? names[0]) as string;
    const found = answersAll ? engine : engines.get(model);
    if (!found) throw noModel();
    return route({ engine: found, json, model, signal: request.signal }).catch((error) => errorResponse(error, json));
  };
  return async (input, init) => {
    const request = readRequest(input, init);
    const { signal } = request;
    signal?.throwIfAborted();
    try {
      return await abortable(answer(request), signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      return errorResponse(error);
    }
  };
}

/** `max_model_len` is vLLM's word for the length of the context. */
function card([id, { info }]: readonly [string, ApiEngine]): object {
  return { id, object: 'model', created: 0, owned_by: 'vivace', max_model_len: info.contextLength };
}

/** An error as an answer. Only memory may be there a moment later: a lost engine stays lost. */
function errorResponse(error: unknown, json?: JsonObject): Response {
  const { status, body } = describeError(error, json);
  const mayPass = status === 507 && (error as { canRetry?: boolean }).canRetry === true;
  return Response.json(body, { status, headers: { 'x-should-retry': String(mayPass) } });
}
