// Errors as the classes of the OpenAI SDK, and hostile bodies: each is answered with a typed error, and the engine
// still answers.

import { APIError, BadRequestError, NotFoundError } from 'openai';
import { says } from '../../chain/chain_model';
import { randomSource } from '../../random';
import { clientOf } from './openai_checks';
import { assert, BASE_URL, CHAIN, type Checks, equal, failureOf, type Place, user } from './place';

const HELLO = { model: CHAIN, messages: [user('Hi')] };
/** More than the context of the chain model: a token a byte. */
const TOO_LONG = { model: CHAIN, messages: [user('x'.repeat(3000))] };
const COUNT = 10_000;

const ROUTES = ['chat/completions', 'completions', 'responses', 'embeddings'];

/** Fields that every route knows or ignores. */
const FIELDS = [
  'messages',
  'prompt',
  'input',
  'model',
  'stream',
  'stream_options',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'n',
  'seed',
  'stop',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'presence_penalty',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  'chat_template_kwargs',
  'encoding_format',
  'dimensions',
  'echo',
  'suffix',
];

type Random = () => number;

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

function anything(random: Random, depth: number): unknown {
  const plain = [null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, '', 'auto', '\ud800', '__proto__', [], {}];
  if (depth === 0 || random() < 0.5) return pick(random, plain);
  const values = Array.from({ length: Math.ceil(random() * 3) }, () => anything(random, depth - 1));
  if (random() < 0.5) return values;
  const keys = ['role', 'content', 'type', 'function', 'name', 'constructor', '__proto__', 'text'];
  return Object.fromEntries(values.map((value) => [pick(random, keys), value]));
}

/** A body that no route can answer: no JSON, no object, or with a message, prompt and input of the wrong type. */
function malformed(random: Random): string {
  const way = random();
  if (way < 0.1) return pick(random, ['', '{', 'null', '[]', '"text"', '7', '\0', '{"messages":', '['.repeat(2000)]);
  if (way < 0.15) return '['.repeat(500) + ']'.repeat(500);
  const body: Record<string, unknown> = {};
  for (let i = 0; i < 5; i++) body[pick(random, FIELDS)] = anything(random, 3);
  const wrong = () => pick(random, [undefined, 5, true, {}, [], [[]], [null], [{}], [{ role: 'robot', content: '' }]]);
  return JSON.stringify({ ...body, messages: wrong(), prompt: wrong(), input: wrong() });
}

async function post(place: Place, route: string, body: string): Promise<Response> {
  return place.fetch(`${BASE_URL}/${route}`, { method: 'POST', body });
}

/** The error of an answer with an error's status. */
async function errorOf(response: Response, body: string): Promise<void> {
  const answer = await response.json();
  const { message, type, param, code } = answer.error ?? {};
  const isTyped = [message, type].every((text) => typeof text === 'string' && text !== '');
  const areNamed = [param, code].every((text) => text === null || typeof text === 'string');
  assert(response.status >= 400 && response.status < 500, `${response.status} for ${body.slice(0, 200)}`);
  assert(isTyped && areNamed, `${JSON.stringify(answer)} for ${body.slice(0, 200)}`);
}

export const ERROR_CHECKS: Checks = {
  async 'a prompt longer than the context, whole and as a stream'(place) {
    for (const stream of [false, true]) {
      const asked = clientOf(place).chat.completions.create({ ...TOO_LONG, stream });
      const { status, code, type } = await failureOf(BadRequestError, asked);
      equal([status, code, type], [400, 'context_length_exceeded', 'invalid_request_error']);
    }
  },

  async 'routes that are not there'(place) {
    const client = clientOf(place);
    for (const asked of [client.files.list(), client.moderations.create({ input: 'Hi' })]) {
      const { status, code } = await failureOf(NotFoundError, Promise.resolve(asked));
      equal([status, code], [404, 'unknown_url']);
    }
    const error = await failureOf(APIError, client.get('/chat/completions'));
    equal([error.status, error.code], [405, 'method_not_allowed']);
  },

  async 'known fields that cannot be done, by name'(place) {
    const cases: [object, string][] = [
      [{ response_format: { type: 'xml' } }, 'response_format'],
      [{ modalities: ['audio'] }, 'modalities'],
      [{ audio: { voice: 'alloy', format: 'wav' } }, 'audio'],
      [{ store: true }, 'store'],
      [{ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] }] }, 'messages[0]'],
    ];
    for (const [fields, param] of cases) {
      const asked = clientOf(place).chat.completions.create({ ...HELLO, ...fields });
      const error = await failureOf(BadRequestError, asked);
      assert(error.param?.startsWith(param) === true, `${error.param} is not in ${param}: ${error.message}`);
    }
  },

  async 'fields out of range, by name'(place) {
    const wrong = { temperature: -1, top_p: 2, n: 0, max_tokens: 0, presence_penalty: 3, top_logprobs: 21 };
    for (const [param, value] of Object.entries(wrong)) {
      const asked = clientOf(place).chat.completions.create({ ...HELLO, [param]: value });
      equal((await failureOf(BadRequestError, asked)).param, param);
    }
  },

  async 'unknown fields are ignored'(place) {
    const request = { ...HELLO, user: 'me', metadata: {}, some_new_field: 7 };
    equal((await clientOf(place).chat.completions.create(request)).choices[0]?.message.content, says('hello'));
  },

  async [`${COUNT} malformed bodies are refused, and a normal request is answered`](place) {
    const random = randomSource(16);
    const before = place.heard.length;
    for (let i = 0; i < COUNT; i++) {
      const body = malformed(random);
      await errorOf(await post(place, pick(random, ROUTES), body), body);
    }
    equal(place.heard.slice(before), []);
    equal((await clientOf(place).chat.completions.create(HELLO)).choices[0]?.message.content, says('hello'));
  },
};
