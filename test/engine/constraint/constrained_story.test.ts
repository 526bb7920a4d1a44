// The storyteller in the form of a schema, on the CPU: every answer is JSON that fits. VIVACE_ALL_PROMPTS=1 asks for
// 100.

import { Ajv2020 } from 'ajv/dist/2020';
import { expect, test } from 'vitest';
import { CpuBackend, loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import type { EngineEvent } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import type { Session } from '../../../src/engine/worker/request/session';
import { compileConstraint } from '../../../src/grammar/constraint';
import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { openStoryteller } from '../storyteller';

const ANSWERS = process.env.VIVACE_ALL_PROMPTS ? 100 : 4;
const SCHEMA = {
  type: 'object',
  properties: {
    hero: { enum: ['cat', 'dog', 'bird'] },
    name: { type: 'string', minLength: 2, maxLength: 5 },
    age: { type: 'integer', minimum: 1, maximum: 99 },
  },
  required: ['hero', 'name', 'age'],
  additionalProperties: false,
};

test('the storyteller constrained by a schema writes JSON that fits', async () => {
  const { files, tokenizer, template } = await openStoryteller();
  const config = readConfig(files);
  const backend = new CpuBackend(config, await loadCpuWeights(resolveTensors(files, config)), 128);
  const session: Session = { backend, tokenizer, template, vocabSize: config.vocabSize, cachedIds: [] };
  const { automaton } = compileConstraint({ kind: 'json_schema', schema: SCHEMA, layout: 'line' });
  const isValid = new Ajv2020().compile(SCHEMA);
  const texts = new Set<string>();
  for (let seed = 0; seed < ANSWERS; seed++) {
    const input = { messages: [{ role: 'user', content: 'A story about a pet' } as const] };
    const events: EngineEvent[] = [];
    const emit = (some: readonly EngineEvent[]) => void events.push(...some);
    await generate(session, input, { temperature: 1, seed }, emit, () => false, undefined, {
      automaton,
      onlyCalls: false,
    });
    const text = events.map((event) => (event.type === 'token' || event.type === 'done' ? event.text : '')).join('');
    expect(isValid(JSON.parse(text)), text).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: 'done', finishReason: 'eos' });
    texts.add(text);
  }
  expect(texts.size).toBeGreaterThan(1);
});
