// The worker's side of comlink, restricted to calls of the API.

import { type Endpoint, expose } from 'comlink';

/**
 * Answers calls of `api` that come through `endpoint`, and ignores all other messages. comlink would throw at some of
 * them, which ends the worker, and for others it would expose more than calls.
 */
export function serve(api: object, endpoint: Endpoint): void {
  expose(api, {
    postMessage: (message, transfer = []) => endpoint.postMessage(message, transfer),
    addEventListener: (type, listener) =>
      endpoint.addEventListener(type, (event) => {
        if (typeof listener === 'function' && isCall(api, (event as MessageEvent<unknown>).data)) listener(event);
      }),
    removeEventListener: () => {}, // comlink calls it for a RELEASE, which is ignored
  });
}

/** True if `data` is a call of a method of `api` by its name, with arguments that are plain or proxies. */
function isCall(api: object, data: unknown): boolean {
  const { id, type, path, argumentList } = fieldsOf(data);
  if (typeof id !== 'string' || type !== 'APPLY' || !Array.isArray(path) || !Array.isArray(argumentList)) return false;
  const [method, ...more] = path;
  return (
    typeof method === 'string' && more.length === 0 && Object.hasOwn(api, method) && argumentList.every(isArgument)
  );
}

function isArgument(argument: unknown): boolean {
  const { type, name, value } = fieldsOf(argument);
  return type === 'RAW' || (type === 'HANDLER' && name === 'proxy' && value instanceof MessagePort);
}

function fieldsOf(data: unknown): Record<string, unknown> {
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
}
