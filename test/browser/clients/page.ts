// The page of the clients: loads both models once, each in a worker of its own, and runs checks by name. The engine and
// the interface are the built bundles.

import type { ApiEngine } from '../../../src/api/api_engine';
import { createFetch } from '../../../src/api/openai/fetch';
import { Engine, type EngineEvent } from '../../../src/engine/engine';
import { CHECKS } from './checks';
import { type Heard, type Place, STORY } from './place';

/** The engine, with what became of its requests. */
function listened(engine: Engine, heard: Heard[]): ApiEngine {
  async function* listen(events: AsyncIterable<EngineEvent>): AsyncGenerator<EngineEvent> {
    const own: Heard = { tokens: 0, end: 'running' };
    heard.push(own);
    try {
      for await (const event of events) {
        if (event.type === 'token') own.tokens++;
        if (event.type === 'done') own.end = event.finishReason;
        yield event;
      }
    } catch (error) {
      own.end = 'failed';
      throw error;
    } finally {
      if (own.end === 'running') own.end = 'left';
    }
  }
  return {
    info: engine.info,
    chat: (messages, options) => listen(engine.chat(messages, options)),
    complete: (prompt, options) => listen(engine.complete(prompt, options)),
    embed: (texts, options) => engine.embed(texts, options),
  };
}

async function openPlace(): Promise<Place> {
  const [story, chain] = await Promise.all([
    Engine.load('/models/storyteller/storyteller-q8_0.gguf', { contextLength: 256 }),
    Engine.load('/chain/'),
  ]);
  const heard: Heard[] = [];
  const fetch = createFetch(listened(chain, heard), { models: { [STORY]: listened(story, heard) } });
  return {
    fetch: fetch as typeof globalThis.fetch,
    heard,
    async story(prompt, maxTokens) {
      const events: EngineEvent[] = [];
      for await (const event of story.complete(prompt, { temperature: 0, maxTokens })) events.push(event);
      return events;
    },
  };
}

let place: Promise<Place> | null = null;

/** Runs a check. Null, or why it failed. */
async function runCheck(name: string): Promise<string | null> {
  try {
    place ??= openPlace();
    await CHECKS[name]!(await place);
    return null;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

Object.assign(globalThis, { runCheck });
