// The answers to one request as an iterator of events: one after another, each with a seed of its own.

import type { EngineEvent, EngineInfo, GenerateInput, GenerateOptions, RunMetrics } from '../protocol';
import type { Connection } from './connection';
import { Request } from './request';
import { StoppedAnswer } from './stopped_answer';

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
  connection: Pick<Connection, 'worker' | 'onEnd'>,
  engine: { readonly info: EngineInfo; metrics: RunMetrics | null },
  input: GenerateInput,
  { signal, seed = randomSeed(), ...others }: AnswersOptions = {},
): Answers {
  let request: Request<EngineEvent> | null = null;
  let isLeft = false;

  async function* events(): Answers {
    for (let choice = 0; choice === 0 || (choice < Number(others.n) && !isLeft && !signal?.aborted); choice++) {
      const options = { ...others, seed: choice === 0 ? seed : (seed + choice) >>> 0 };
      const stopped = new StoppedAnswer(engine.info, options.seed);
      request = new Request(connection, async (to, port) => to.generate({ input, options }, port), signal, STOP_MS);
      try {
        let done: RunMetrics | null = null;
        for (let ended = false; !ended; ) {
          const event: EngineEvent | null = (await request.take()) ?? (done || isLeft ? null : stopped.done());
          if (!event) break; // stopped between `done` and `gpuTimes`, or left
          stopped.record(event);
          if (event.type === 'done') engine.metrics = done = event.metrics;
          if (event.type === 'gpuTimes' && done && done === engine.metrics)
            engine.metrics = { ...done, gpuMs: event.gpuMs };
          ended = event.type === (options.gpuTimes ? 'gpuTimes' : 'done');
          yield event.type === 'start' ? { ...event, choice } : event;
        }
      } finally {
        request.close();
      }
    }
  }

  const made = events();
  const end = made.return.bind(made);
  // By itself a generator returns after the event that it waits for, which a busy worker may never send.
  made.return = (value) => {
    isLeft = true;
    request?.leave();
    return end(value);
  };
  return made;
}

function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}
