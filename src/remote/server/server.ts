// A server and the way to it: requests with their key, tries, and failures. Holds the key where no export finds it.

import { VivaceError } from '../../errors';
import { abortable } from '../../shared/abortable';
import type { JsonObject } from '../../shared/json_object';
import { CLOCK, type Clock } from '../clock';
import { type RemoteOptions, readAddress, readHeaders, type Timing, timingOf } from '../options';
import { parseObject } from './bounded_json';
import { readText, silent } from './bytes';
import { assertType, statusFailure, unreachable, waitBefore } from './failures';

/** Most bytes of an answer that is one JSON object, and of one that is an error. */
const MAX_JSON = 64e6;
const MAX_ERROR = 65_536;
/** Fewer letters are no secret, and would stain every message. */
const LEAST_SECRET = 6;

/** An accepted request. */
export interface Accepted {
  response: Response;
  /** When the try that was accepted began, and when its headers came, in milliseconds of the clock. */
  sentMs: number;
  acceptedMs: number;
  tries: number;
}

export class Server {
  readonly address: string;
  readonly clock: Clock;
  readonly timing: Timing;
  readonly #headers: Headers;
  readonly #fetch: NonNullable<RemoteOptions['fetch']>;

  /** @throws InvalidRequestError */
  constructor(address: string, options: RemoteOptions) {
    this.address = readAddress(address);
    this.clock = options.clock ?? CLOCK;
    this.timing = timingOf(options);
    this.#headers = readHeaders(options);
    this.#fetch = options.fetch ?? ((address, init) => fetch(address, init));
  }

  get hasKey(): boolean {
    return this.#headers.has('authorization');
  }

  /** The JSON object at a path. Without `body` it is asked for by GET. */
  async json(path: string, body: object | undefined, signal: AbortSignal): Promise<JsonObject> {
    const { response } = await this.send(path, body, signal);
    return this.#cleaned(async () => {
      assertType(response, 'application/json');
      const bounds = { most: MAX_JSON, isWhole: true, ms: this.timing.silenceMs };
      const text = await readText(response, bounds, this.clock, signal);
      signal.throwIfAborted();
      return parseObject(text);
    });
  }

  /** The body of an answer that is a stream of events. @throws RemoteError for another type */
  events({ response }: Accepted): ReadableStream<Uint8Array> {
    assertType(response, 'text/event-stream');
    return response.body ?? new ReadableStream({ start: (controller) => controller.close() });
  }

  /**
   * Repeats a request only where the server has not begun it. An abort ends it at any time.
   * @throws VivaceError; the reason of the abort
   */
  async send(path: string, body: object | undefined, signal: AbortSignal): Promise<Accepted> {
    for (let tries = 0; ; tries++) {
      const sentMs = this.clock.now();
      const response = await this.#once(path, body, signal);
      if (response.ok) return { response, sentMs, acceptedMs: this.clock.now(), tries: tries + 1 };
      const failure = await this.#failureOf(response, signal);
      const ms = tries < this.timing.retries ? waitBefore(failure, tries) : null;
      if (ms === null) throw failure;
      await this.#pause(ms, signal);
    }
  }

  /** An error without the key and the headers: a server may repeat them. */
  cleaned(error: unknown): unknown {
    if (!(error instanceof VivaceError)) return error;
    const clean = this.#secrets().reduce((text, secret) => text.replaceAll(secret, '[key]'), error.message);
    if (clean !== error.message) {
      error.message = clean;
      error.stack = `${error.name}: ${clean}`; // its first line repeats the message
    }
    return error;
  }

  async #cleaned<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw this.cleaned(error);
    }
  }

  async #once(path: string, body: object | undefined, signal: AbortSignal): Promise<Response> {
    signal.throwIfAborted();
    const { acceptMs } = this.timing;
    const headers = new Headers(this.#headers);
    if (body) headers.set('content-type', 'application/json');
    const late = new AbortController();
    const end = AbortSignal.any([signal, late.signal]);
    const init: RequestInit = {
      method: body ? 'POST' : 'GET',
      headers,
      body: body && JSON.stringify(body),
      signal: end,
      redirect: 'error', // the key goes to no other address
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
    };
    const ask = async () => this.#fetch(`${this.address}${path}`, init); // one of a caller's may throw at once
    const asked = ask();
    const takeBack = this.clock.after(acceptMs, () => late.abort(silent(acceptMs)));
    try {
      return await abortable(asked, end);
    } catch {
      signal.throwIfAborted();
      if (late.signal.aborted) throw late.signal.reason;
      throw unreachable(this.address); // the browser's own error says less, and may hold more
    } finally {
      takeBack();
      asked.catch(() => {});
    }
  }

  async #failureOf(response: Response, signal: AbortSignal): Promise<VivaceError> {
    const bounds = { most: MAX_ERROR, isWhole: false, ms: this.timing.silenceMs };
    const text = await readText(response, bounds, this.clock, signal).catch(() => '');
    signal.throwIfAborted();
    const failure = statusFailure(response, text, this.hasKey, this.clock.epochMs + this.clock.now());
    return this.cleaned(failure) as VivaceError;
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    let takeBack = () => {};
    const over = new Promise<void>((resolve) => {
      takeBack = this.clock.after(ms, resolve);
    });
    return abortable(over, signal).finally(takeBack);
  }

  /** The longest first, so that none is left in halves. */
  #secrets(): string[] {
    const values = [...this.#headers].map(([, value]) => value);
    const secrets = [...values, ...values.map((value) => value.replace(/^\w+ /, ''))];
    return secrets.filter((secret) => secret.length >= LEAST_SECRET).sort((a, b) => b.length - a.length);
  }
}
