// The answers to one request as an iterator of events: one after another, each with a seed of its own, and each in as
// many workers as needed.

import { VivaceError } from '../../errors';
import { abortable, checkSignal } from '../../shared/abortable';
import { arrived } from '../../shared/part';
import type { EngineEvent, GenerateInput, GenerateOptions, GenerateRequest, RunMetrics } from '../protocol';
import { asksForConstraint } from './constraint/asked_constraint';
import type { constrained as Constrain, ConstrainedRequest } from './constraint/constrain';
import { HeardAnswer } from './heard_answer';
import type { EngineHost } from './host/host';
import { MOVED } from './host/supervisor';
import { Request } from './request';

/** The time that a stopped worker has to end its answer itself. Such an answer has all its figures. */
const STOP_MS = 250;

export type Answers = AsyncGenerator<EngineEvent, void, undefined>;

interface AnswersOptions extends GenerateOptions {
  signal?: AbortSignal;
}

/**
 * Stops the worker when the caller leaves the iterator early or aborts the signal. After an abort `done` still comes,
 * and no further answer. An answer ends with `done`, or with `gpuTimes` where the options ask for it.
 * @param engine its `metrics` become those of the newest finished answer
 */
export function answers(
  host: Pick<EngineHost, 'whenReady' | 'info' | 'form' | 'news' | 'running'>,
  engine: { metrics: RunMetrics | null },
  input: GenerateInput,
  { signal, seed = randomSeed(), constraint: document, ...others }: AnswersOptions = {},
): Answers {
  let request: Request<EngineEvent> | null = null;
  const leaving = new AbortController();
  const { signal: left } = leaving;

  async function* events(): Answers {
    const asked = { ...others, constraint: document };
    const asks = asksForConstraint(host, input, asked); // if not, no wait: requests keep the order of the calls
    const { constraint, warnings } = asks ? await constraintOf(host, input, asked, left, signal) : NO_CONSTRAINT;
    if (left.aborted) return;
    for (const message of warnings) yield { type: 'warning', code: 'constraint', message };
    for (let choice = 0; choice === 0 || (choice < Number(others.n) && !left.aborted && !signal?.aborted); choice++) {
      const options = { ...others, seed: choice === 0 ? seed : (seed + choice) >>> 0 };
      const heard = new HeardAnswer(host.info, options.seed);
      host.running.add(heard);
      try {
        yield* answer(heard, { input, options, constraint }, choice);
      } finally {
        host.running.delete(heard);
      }
    }
  }

  /** One answer, whose worker may be lost any number of times. */
  async function* answer(heard: HeardAnswer, wanted: GenerateRequest, choice: number): Answers {
    let done: RunMetrics | null = null;
    let lostAt: number | null = null;
    for (;;) {
      const { resumed } = heard;
      const asked = resumed ? { ...wanted, resumed } : wanted;
      request = new Request(host, { kind: 'generate', body: asked }, signal, STOP_MS);
      try {
        if (lostAt !== null && (await request.connected)) {
          yield recovered(host, performance.now() - lostAt);
          lostAt = null;
        }
        for (;;) {
          const came: EngineEvent | null = (await request.take()) ?? (done || left.aborted ? null : heard.stopped());
          if (!came) return; // stopped between `done` and `gpuTimes`, or left
          const event = heard.take(came);
          if (event?.type === 'done') engine.metrics = done = event.metrics;
          if (event?.type === 'gpuTimes' && done && done === engine.metrics)
            engine.metrics = { ...done, gpuMs: event.gpuMs };
          if (event) yield event.type === 'start' ? { ...event, choice } : event;
          if (came.type === (wanted.options.gpuTimes ? 'gpuTimes' : 'done')) return;
        }
      } catch (error) {
        if (!(error instanceof VivaceError && request.isLoss(error))) throw error;
        if (done) {
          yield { type: 'gpuTimes', gpuMs: null };
          return;
        }
        if (signal?.aborted) {
          const end = heard.stopped();
          engine.metrics = end.metrics;
          yield end;
          return;
        }
        lostAt = performance.now();
        if (error !== MOVED) yield { type: 'interrupted', code: error.code, message: error.message };
      } finally {
        request.close();
      }
    }
  }

  const made = events();
  const end = made.return.bind(made);
  // By itself a generator returns after the event that it waits for, which a busy worker may never send.
  made.return = (value) => {
    leaving.abort();
    request?.leave();
    return end(value);
  };
  return made;
}

function recovered({ news: message, info }: Pick<EngineHost, 'news' | 'info'>, pauseMs: number): EngineEvent {
  return { type: 'recovered', message, backend: info.backend, pauseMs };
}

/** What constrains the answers. Nothing where the caller leaves or stops before the part for it has come. */
async function constraintOf(
  host: Parameters<typeof Constrain>[0],
  input: GenerateInput,
  asked: Parameters<typeof Constrain>[2],
  left: AbortSignal,
  signal?: AbortSignal,
): Promise<ConstrainedRequest> {
  checkSignal(signal);
  if (signal?.aborted) return NO_CONSTRAINT;
  try {
    return await abortable(abortable(constrainedBy(host, input, asked), left), signal);
  } catch (error) {
    if (left.aborted || signal?.aborted) return NO_CONSTRAINT;
    throw error;
  }
}

async function constrainedBy(...asked: Parameters<typeof Constrain>): Promise<ConstrainedRequest> {
  const { constrained } = await arrived(import('./constraint/constrain'));
  return constrained(...asked);
}

const NO_CONSTRAINT = { constraint: undefined, warnings: [] };

function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}
