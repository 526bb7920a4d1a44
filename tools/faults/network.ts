// Faults of the network: no answer, and bodies that break off, stop, crawl or lie.

import { forever } from './patch';
import type { Schedule } from './schedule';

type Change = (bytes: Uint8Array<ArrayBuffer>, from: number) => Promise<Uint8Array<ArrayBuffer>>;

export function patchNetwork(schedule: Schedule): void {
  const usual = globalThis.fetch;
  globalThis.fetch = async (resource, options) => {
    const url = new URL(resource instanceof Request ? resource.url : String(resource), location.href);
    if (!/^https?:$/.test(url.protocol)) return usual(resource, options);
    if (schedule.strikes('network-down')) throw new TypeError('Failed to fetch');
    const changes = [cut, stall, crawl, lie].map((make) => make(schedule));
    const response = await usual(resource, options);
    const signal = options?.signal ?? (resource instanceof Request ? resource.signal : null);
    return changes.reduce((changed, change) => (change ? withBody(changed, change, signal) : changed), response);
  };
}

type Make = (schedule: Schedule) => ((size: number) => Change) | null;

/** The middle of a body. One without a length counts as long. */
const middleOf = (size: number) => (size > 0 ? size >> 1 : 2 ** 16);

const cut: Make = (schedule) => {
  if (!schedule.strikes('network-cut')) return null;
  return (size) => async (bytes, from) => {
    if (from + bytes.length > middleOf(size)) throw new TypeError('network error');
    return bytes;
  };
};

const stall: Make = (schedule) => {
  if (!schedule.strikes('network-stalls')) return null;
  return (size) => (bytes, from) => (from + bytes.length > middleOf(size) ? forever() : Promise.resolve(bytes));
};

const crawl: Make = (schedule) => {
  const fault = schedule.strikes('network-slow');
  if (!fault) return null;
  return () => async (bytes) => {
    await new Promise((resolve) => setTimeout(resolve, bytes.length / fault.kb));
    return bytes;
  };
};

const lie: Make = (schedule) => {
  if (!schedule.strikes('network-wrong-bytes')) return null;
  return (size) => async (bytes, from) => {
    const at = middleOf(size) - from;
    if (at < 0 || at >= bytes.length) return bytes;
    const wrong = bytes.slice();
    wrong[at]! ^= 0x55;
    return wrong;
  };
};

/** The response with a changed body. An abort errors the body at once, as the browser's own. */
function withBody(response: Response, make: (size: number) => Change, signal?: AbortSignal | null): Response {
  if (!response.body) return response;
  const change = make(Number(response.headers.get('content-length') ?? 0));
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  let from = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      signal?.addEventListener('abort', () => controller.error(signal.reason));
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (signal?.aborted) return;
      if (done) return controller.close();
      const bytes = await change(value, from);
      from += value.length;
      if (!signal?.aborted) controller.enqueue(bytes);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers, url } = response;
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: url });
}
