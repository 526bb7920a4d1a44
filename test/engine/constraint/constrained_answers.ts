// Answers of the storyteller on the CPU, each held to one schema, judged by another validator.

import { Ajv2020 } from 'ajv/dist/2020';
import { CpuBackend, loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import { generate } from '../../../src/engine/worker/generate';
import type { Session } from '../../../src/engine/worker/request/session';
import { compileConstraint } from '../../../src/grammar/constraint';
import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { openStoryteller } from '../storyteller';

const SCHEMA = {
  type: 'object',
  properties: {
    hero: { type: 'string', maxLength: 12 },
    kind: { enum: ['fox', 'girl', 'robot'] },
    age: { type: 'integer', minimum: 1, maximum: 99 },
    friends: { type: 'array', items: { type: 'string', maxLength: 8 }, maxItems: 2 },
    happy: { type: 'boolean' },
  },
  required: ['hero', 'kind', 'age', 'friends', 'happy'],
  additionalProperties: false,
};
const MAX_TOKENS = 200;
const CONTEXT = 256;

export interface ConstrainedAnswer {
  text: string;
  tokens: number;
  /** Null where the answer has ended and fits the schema. */
  wrong: string | null;
}

/** One answer for each seed, at temperature 1 without filters. */
export async function* constrainedAnswers(seeds: Iterable<number>): AsyncGenerator<ConstrainedAnswer> {
  const { files, tokenizer, template } = await openStoryteller();
  const config = readConfig(files);
  const backend = new CpuBackend(config, await loadCpuWeights(resolveTensors(files, config)), CONTEXT);
  const session: Session = { backend, tokenizer, template, vocabSize: config.vocabSize, cachedIds: [] };
  const { automaton } = compileConstraint({ kind: 'json_schema', schema: SCHEMA, layout: 'line' });
  const fits = new Ajv2020().compile(SCHEMA);
  for (const seed of seeds) {
    let text = '';
    let tokens = 0;
    let finishReason = '';
    await generate(
      session,
      { messages: [{ role: 'user', content: 'Tell me about a hero' }] },
      { temperature: 1, topK: 0, topP: 1, minP: 0, seed, maxTokens: MAX_TOKENS },
      (events) => {
        for (const event of events) {
          if (event.type === 'token' || event.type === 'done') text += event.text;
          if (event.type === 'token') tokens++;
          if (event.type === 'done') finishReason = event.finishReason;
        }
      },
      () => false,
      undefined,
      { automaton, onlyCalls: false },
    );
    yield { text, tokens, wrong: wrongOf(text, finishReason, fits) };
  }
}

function wrongOf(text: string, finishReason: string, fits: (value: unknown) => boolean): string | null {
  if (finishReason !== 'eos') return `it ended by ${finishReason}`;
  try {
    return fits(JSON.parse(text)) ? null : 'it does not fit the schema';
  } catch {
    return 'it is no JSON';
  }
}
