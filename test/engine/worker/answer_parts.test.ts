// Thinking and calls of tools through the loop: their events, their places among the tokens, and the ends of answers.

import { beforeAll, describe, expect, test } from 'vitest';
import { MOST_SHARED } from '../../../src/engine/backend/backend';
import type { EngineEvent, GenerateInput, GenerateOptions } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import { encodeInput } from '../../../src/engine/worker/request/prompt';
import type { Session } from '../../../src/engine/worker/request/session';
import { RunAhead } from '../../../src/engine/worker/steps/run_ahead';
import { type ChatTemplate, createChatTemplate } from '../../../src/text/template/chat_template';
import type { Tokenizer } from '../../../src/text/tokenizer';
import { ScriptBackend } from '../doubles/script_backend';
import { openStoryteller } from '../storyteller';

const SOURCE = `{%- if tools %}<|im_start|>system
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- for m in messages %}<|im_start|>{{ m.role }}
{% if m.reasoning_content %}<think>
{{ m.reasoning_content }}
</think>

{% endif %}{{ m.content }}
{%- for call in m.tool_calls %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

const THINKING = '<think>\nHm, a cat.\n</think>\n\n';
const CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>';
const TOOLS = [{ name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } }];
const USER: GenerateInput = { messages: [{ role: 'user', content: 'How warm is it in Oslo?' }] };
const ASKED: GenerateInput = { ...USER, tools: TOOLS };

let tokenizer: Tokenizer;
let template: ChatTemplate;
beforeAll(async () => {
  ({ tokenizer } = await openStoryteller());
  template = createChatTemplate(SOURCE, tokenizer);
});

/** The posts of an answer whose model writes `text` and then the end token. */
async function posts(text: string, input: GenerateInput, options: GenerateOptions = {}, shared = 1) {
  const ids = [...tokenizer.encode(text, { addSpecialTokens: false }), tokenizer.eosIds[0]];
  const backend = new ScriptBackend(1000, (position) => ids[position - start] ?? ids[0]);
  const session: Session = { backend, tokenizer, template, vocabSize: 4096, cachedIds: [] };
  const start = (await encodeInput(input, 'auto', session)).ids.length;
  if (shared > 1) {
    Object.assign(backend, {
      decodeMany: async (position: number, count: number) =>
        Uint32Array.from(await Promise.all(Array.from({ length: count }, (_, i) => backend.decode(position + i)))),
    });
    session.runAhead = Object.assign(new RunAhead('auto', 8, MOST_SHARED), { depth: 8, shared, arrived: () => {} });
  }
  const made: (readonly EngineEvent[])[] = [];
  const emit = (events: readonly EngineEvent[]) => void made.push(events);
  await generate(session, input, { temperature: 0, ...options }, emit, () => false);
  return made;
}

function heard(made: readonly (readonly EngineEvent[])[]) {
  const events = made.flat();
  const done = events.at(-1);
  if (done?.type !== 'done') throw new Error('the last event is not done');
  const join = (pick: (event: EngineEvent) => string) => events.map(pick).join('');
  return {
    events,
    done,
    text: join((event) => (event.type === 'token' || event.type === 'done' ? event.text : '')),
    reasoning: join((event) => (event.type === 'reasoning' ? event.text : '')),
    args: join((event) => (event.type === 'tool-call' ? event.arguments : '')),
    calls: events.flatMap((event) => (event.type === 'tool-call' && event.name ? [event.name] : [])),
    errors: events.filter((event) => event.type === 'tool-call-error'),
  };
}

describe.each([1, 4])('with %i steps to a readback', (shared) => {
  test('thinking has events of its own, and its tokens have no text', async () => {
    const { events, done, text, reasoning } = heard(await posts(`${THINKING}Yes.`, USER, {}, shared));
    expect({ text, reasoning, finishReason: done.finishReason }).toEqual({
      text: 'Yes.',
      reasoning: 'Hm, a cat.',
      finishReason: 'eos',
    });
    const thinking = tokenizer.encode(THINKING, { addSpecialTokens: false }).length;
    expect(done.usage.reasoningTokens).toBeGreaterThan(4);
    expect(done.usage.reasoningTokens).toBeLessThanOrEqual(thinking);
    const tokens = events.filter((event) => event.type === 'token');
    expect(tokens.slice(0, thinking - 2).map((token) => token.text)).toEqual(Array(thinking - 2).fill(''));
  });

  test('a call comes with its name first, and the answer ends for it', async () => {
    const { done, text, calls, args } = heard(await posts(`I look.\n${CALL}`, ASKED, {}, shared));
    expect({ text: text.trim(), calls, args: JSON.parse(args) }).toEqual({
      text: 'I look.',
      calls: ['weather'],
      args: { city: 'Oslo' },
    });
    expect(done).toMatchObject({ finishReason: 'tool-calls', usage: { reasoningTokens: 0 } });
  });

  test('a part follows the token that completed it, in the same post', async () => {
    const made = await posts(`${THINKING}${CALL}`, ASKED, {}, shared);
    for (const events of made.slice(0, -1)) {
      const part = events.findIndex(({ type }) => type === 'reasoning' || type === 'tool-call');
      if (part >= 0) expect(events.slice(0, part).map(({ type }) => type)).toContain('token');
    }
    expect(
      made
        .slice(0, -1)
        .flat()
        .some(({ type }) => type === 'tool-call'),
    ).toBe(true);
  });
});

test('thinking stays in the text on request', async () => {
  const { text, reasoning } = heard(await posts(`${THINKING}Yes.`, USER, { reasoning: 'text' }));
  expect([text, reasoning]).toEqual([`${THINKING}Yes.`, '']);
});

test.each([
  ['without tools', USER],
  ['where the choice is none', { ...ASKED, toolChoice: 'none' } as const],
])('a call %s is text', async (_, input) => {
  const { text, calls, done } = heard(await posts(CALL, input));
  expect([text, calls, done.finishReason]).toEqual([CALL, [], 'eos']);
});

test('an answer cut within a call says so before `done`, and does not end for the call', async () => {
  const begun = CALL.slice(0, CALL.indexOf('lo"'));
  const maxTokens = tokenizer.encode(begun, { addSpecialTokens: false }).length;
  const made = await posts(CALL, ASKED, { maxTokens });
  const { done, errors } = heard(made);
  expect(done.finishReason).toBe('length');
  expect(errors).toHaveLength(1);
  expect(made.at(-1)?.map(({ type }) => type)).toEqual(['tool-call-error', 'done']);
});

test('a stop text after a call ends the answer for the call, and no part comes twice', async () => {
  const { done, calls, args, reasoning } = heard(await posts(`${THINKING}${CALL}\nEND more`, ASKED, { stop: ['END'] }));
  expect([done.finishReason, calls, reasoning]).toEqual(['tool-calls', ['weather'], 'Hm, a cat.']);
  expect(JSON.parse(args)).toEqual({ city: 'Oslo' });
});

test('an unknown tool is an error with what the model wrote, and no reason to end', async () => {
  const { done, errors } = heard(await posts(CALL.replace('weather', 'fly'), ASKED));
  expect(errors).toEqual([
    {
      type: 'tool-call-error',
      index: 0,
      message: expect.stringContaining('fly'),
      text: expect.stringContaining('Oslo'),
    },
  ]);
  expect(done.finishReason).toBe('eos');
});
