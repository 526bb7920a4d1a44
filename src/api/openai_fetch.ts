// The package's entry vivace/openai: a `fetch` that answers OpenAI's HTTP interface with engines in this page.
// No request leaves the page: what no engine answers is an error.

import type { ApiEngine } from './api_engine';
import { Fields } from './fields';
import { type HttpRequest, readJson, readRequest } from './http_request';
import { type ApiCall, chat } from './openai_chat';
import { complete } from './openai_completions';
import { embed } from './openai_embeddings';
import { ApiError, describeError } from './openai_errors';
import { createResponses } from './responses';

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
 */
export function createFetch(engine: ApiEngine, { models = {} }: FetchOptions = {}): Fetch {
  const engines = new Map([[engine.info.model.name, engine], ...Object.entries(models)]);
  const find = (name: string | undefined): ApiEngine => {
    const found = name === undefined || Object.keys(models).length === 0 ? engine : engines.get(name);
    if (found) return found;
    const names = [...engines.keys()].join(', ');
    throw new ApiError(404, `There is no model of this name. There are: ${names}.`, 'model_not_found', 'model');
  };
  const routes = new Map<string, Route>([
    ['chat/completions', chat],
    ['completions', complete],
    ['responses', createResponses()],
    ['embeddings', embed],
  ]);
  const answer = async (request: HttpRequest): Promise<Response> => {
    const { method, path } = request;
    const [, name = '', id] = PATH.exec(path) ?? [];
    const route = routes.get(name);
    const expected = route ? 'POST' : 'GET';
    if (!route && id === undefined && name !== 'models')
      throw new ApiError(404, `Nothing answers ${method} ${path} here.`, 'unknown_url');
    if (method !== expected) throw new ApiError(405, `${path} takes ${expected}, not ${method}.`, 'method_not_allowed');
    if (!route) return Response.json(id === undefined ? list([...engines.keys()]) : card(decode(id), find));
    const body = Fields.of(await readJson(request));
    const model = body.text('model');
    const found = find(model);
    return route({ engine: found, body, model: model ?? found.info.model.name, signal: request.signal });
  };
  return async (input, init) => {
    const request = readRequest(input, init);
    const { signal } = request;
    signal?.throwIfAborted();
    try {
      return await answer(request);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      return errorResponse(error);
    }
  };
}

function list(names: readonly string[]): object {
  return { object: 'list', data: names.map((name) => card(name)) };
}

function card(id: string, find?: (name: string) => ApiEngine): object {
  find?.(id);
  return { id, object: 'model', created: 0, owned_by: 'vivace' };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** An error as an answer. Only memory may be there a moment later: a lost engine stays lost. */
function errorResponse(error: unknown): Response {
  const { status, body } = describeError(error);
  const mayPass = status === 507 && (error as { canRetry?: boolean }).canRetry === true;
  return Response.json(body, { status, headers: { 'x-should-retry': String(mayPass) } });
}
