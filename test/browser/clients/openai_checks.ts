// The OpenAI SDK, unchanged, over engines in the page: answers, streams, options and aborts.

import OpenAI, { APIUserAbortError, NotFoundError } from 'openai';
import { says } from '../../chain/chain_model';
import {
  assert,
  BASE_URL,
  CHAIN,
  type Checks,
  equal,
  failureOf,
  lastHeard,
  listOf,
  type Place,
  STORY,
  user,
} from './place';

export const clientOf = ({ fetch }: Place) =>
  new OpenAI({ apiKey: 'none', baseURL: BASE_URL, fetch, dangerouslyAllowBrowser: true, maxRetries: 0 });

const HELLO = { model: CHAIN, messages: [user('Hi')] };
const ENDLESS = { model: CHAIN, messages: [user('An endless answer')] };
const TALE = { model: STORY, messages: [user('Tell me a story about a bear')], temperature: 1 };

/** The text of a storyteller's answer of six tokens. */
async function tale(place: Place, options: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>): Promise<string> {
  const answer = await clientOf(place).chat.completions.create({ ...TALE, max_tokens: 6, ...options });
  return answer.choices[0]!.message.content!;
}

/** The next request of the same model is answered, though the one before had no end. */
async function answersAtOnce(place: Place): Promise<void> {
  const before = lastHeard(place)!;
  const { choices } = await clientOf(place).chat.completions.create(HELLO);
  equal(choices[0]!.message.content, says('hello'));
  assert(['abort', 'left'].includes(before.end), `The answer before ended with ${before.end}.`);
  assert(before.tokens < 400, `The answer before had ${before.tokens} tokens.`);
}

const answers: Checks = {
  async 'models: list and retrieve'(place) {
    const client = clientOf(place);
    equal(
      (await client.models.list()).data.map(({ id }) => id),
      [CHAIN, STORY],
    );
    equal((await client.models.retrieve(CHAIN)).id, CHAIN);
    const error = await failureOf(NotFoundError, client.models.retrieve('gpt-9'));
    equal([error.status, error.code], [404, 'model_not_found']);
  },

  async 'chat, whole'(place) {
    const { choices, usage, object, model } = await clientOf(place).chat.completions.create(HELLO);
    equal([object, model, choices.length], ['chat.completion', CHAIN, 1]);
    const [{ message, finish_reason }] = choices as [OpenAI.ChatCompletion.Choice];
    equal([message.role, message.content, finish_reason], ['assistant', says('hello'), 'stop']);
    assert(usage!.prompt_tokens > 10 && usage!.completion_tokens > 5, JSON.stringify(usage));
    equal(usage!.total_tokens, usage!.prompt_tokens + usage!.completion_tokens);
  },

  async 'chat, as a stream with usage'(place) {
    const client = clientOf(place);
    await client.chat.completions.create(HELLO);
    const stream = await client.chat.completions.create({
      ...HELLO,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await listOf(stream);
    equal(chunks[0]?.choices[0]?.delta.role, 'assistant');
    equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), says('hello'));
    equal(
      chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? []),
      ['stop'],
    );
    const { usage, choices } = chunks.at(-1)!;
    equal(choices, []);
    equal(usage!.prompt_tokens_details?.cached_tokens, usage!.prompt_tokens - 1);
    assert(
      chunks.slice(0, -1).every(({ usage }) => !usage),
      'usage comes last',
    );
  },

  async 'chat, through the helper of streams'(place) {
    const runner = clientOf(place).chat.completions.stream({ model: CHAIN, messages: [user('All letters')] });
    equal((await runner.finalChatCompletion()).choices[0]?.message.content, says('letters'));
  },

  async "chat: the storyteller's words are the engine's own"(place) {
    const text = await clientOf(place).completions.create({
      model: STORY,
      prompt: 'Once upon a time',
      temperature: 0,
      max_tokens: 8,
    });
    const events = await place.story('Once upon a time', 8);
    const own = events.map((event) => (event.type === 'token' || event.type === 'done' ? event.text : ''));
    equal(text.choices[0]?.text, own.join(''));
  },

  async 'developer and system messages, and parts of text'(place) {
    const parts = [
      { type: 'text' as const, text: 'All ' },
      { type: 'text' as const, text: 'letters' },
    ];
    for (const role of ['developer', 'system'] as const) {
      const messages = [
        { role, content: 'Be brief.' },
        { role: 'user' as const, content: parts },
      ];
      const { choices } = await clientOf(place).chat.completions.create({ model: CHAIN, messages });
      equal(choices[0]?.message.content, says('letters'));
    }
  },

  async 'a conversation reuses its cache'(place) {
    const messages = [user('Hi'), { role: 'assistant' as const, content: says('hello') }, user('Hi again')];
    await clientOf(place).chat.completions.create(HELLO);
    const { choices, usage } = await clientOf(place).chat.completions.create({ model: CHAIN, messages });
    equal(choices[0]?.message.content, says('hello'));
    assert(usage!.prompt_tokens_details!.cached_tokens! > 10, JSON.stringify(usage));
  },

  async 'completions, whole'(place) {
    const prompt = 'A text';
    const { choices, object } = await clientOf(place).completions.create({ model: CHAIN, prompt, echo: true });
    equal([object, choices[0]?.text, choices[0]?.finish_reason], ['text_completion', prompt + says('text'), 'stop']);
  },

  async 'completions, as a stream, of several prompts'(place) {
    const stream = await clientOf(place).completions.create({ model: CHAIN, prompt: ['A text', 'Two'], stream: true });
    const texts = ['', ''];
    for await (const { choices } of stream) for (const { index, text } of choices) texts[index] += text;
    equal(texts, [says('text'), says('text')]);
  },
};

const options: Checks = {
  async 'stop strings'(place) {
    for (const stop of ['three', ['nothing', ' three']]) {
      const { choices } = await clientOf(place).chat.completions.create({ ...ENDLESS, stop });
      equal(choices[0]!.message.content?.trim(), 'one two');
      equal(choices[0]!.finish_reason, 'stop');
    }
  },

  async 'max_tokens and max_completion_tokens end with length'(place) {
    for (const limit of [{ max_tokens: 5 }, { max_completion_tokens: 5 }]) {
      const { choices, usage } = await clientOf(place).chat.completions.create({ ...ENDLESS, ...limit });
      equal([choices[0]?.finish_reason, usage?.completion_tokens], ['length', 5]);
      assert(says('endless').startsWith(choices[0]!.message.content!), choices[0]!.message.content!);
    }
  },

  async 'a seed repeats an answer'(place) {
    const first = await tale(place, { seed: 5 });
    equal(await tale(place, { seed: 5 }), first);
    const others = [await tale(place, { seed: 6 }), await tale(place, { seed: 7 })];
    assert(
      others.some((other) => other !== first),
      `Three seeds said ${first}`,
    );
  },

  async 'n = 2 gives two answers, of one seed and the next'(place) {
    const { choices, usage } = await clientOf(place).chat.completions.create({ ...TALE, n: 2, seed: 5, max_tokens: 6 });
    equal(
      choices.map(({ index, message }) => [index, message.content]),
      [
        [0, await tale(place, { seed: 5 })],
        [1, await tale(place, { seed: 6 })],
      ],
    );
    equal(usage?.completion_tokens, 12);
  },

  async 'n = 2 as a stream'(place) {
    const stream = await clientOf(place).chat.completions.create({ ...HELLO, n: 2, stream: true });
    const texts = ['', ''];
    const ends: unknown[] = [];
    for await (const { choices } of stream) {
      for (const { index, delta, finish_reason } of choices) {
        texts[index] += delta.content ?? '';
        if (finish_reason) ends.push([index, finish_reason]);
      }
    }
    equal(texts, [says('hello'), says('hello')]);
    equal(ends, [
      [0, 'stop'],
      [1, 'stop'],
    ]);
  },

  async 'logprobs of each token and of the five likeliest'(place) {
    const whole = { ...TALE, temperature: 0, max_tokens: 6, logprobs: true, top_logprobs: 5 };
    const answer = await clientOf(place).chat.completions.create(whole);
    const entries = answer.choices[0]!.logprobs!.content!;
    equal(entries.length, 6);
    equal(entries.map(({ token }) => token).join(''), answer.choices[0]!.message.content);
    for (const { token, logprob, bytes, top_logprobs: top } of entries) {
      equal(new TextDecoder().decode(Uint8Array.from(bytes!)), token);
      equal(top.length, 5);
      equal([top[0]!.token, top[0]!.logprob], [token, logprob]);
      const chances = top.map((each) => each.logprob);
      assert(chances.every(Number.isFinite), `${chances}`);
      equal(
        chances.toSorted((a, b) => b - a),
        chances,
      );
      const sum = chances.reduce((total, each) => total + Math.exp(each), 0);
      assert(sum > 0.01 && sum < 1.001, `The five likeliest add up to ${sum}.`);
    }
    const stream = await clientOf(place).chat.completions.create({ ...whole, stream: true });
    const streamed = (await listOf(stream)).flatMap(({ choices }) => choices[0]?.logprobs?.content ?? []);
    equal(streamed, entries);
  },

  async 'logit_bias forbids a token'(place) {
    const prompt = 'Once upon a time';
    const [first] = (await place.story(prompt, 1)).filter((event) => event.type === 'token');
    const bias = { [first!.id]: -100 };
    const request = { model: STORY, prompt, temperature: 0, max_tokens: 1, logprobs: 2 };
    const free = await clientOf(place).completions.create(request);
    const bound = await clientOf(place).completions.create({ ...request, logit_bias: bias });
    const [likeliest, second] = Object.keys(free.choices[0]!.logprobs!.top_logprobs![0]!);
    equal([free.choices[0]!.text, bound.choices[0]!.text], [likeliest, second]);
  },

  async 'presence and frequency penalties change an answer'(place) {
    const request = { model: STORY, prompt: 'No, no, no, no,', temperature: 0, max_tokens: 8 };
    const countOfNo = async (penalties: object) => {
      const { choices } = await clientOf(place).completions.create({ ...request, ...penalties });
      return choices[0]!.text.split('no').length - 1;
    };
    const plain = await countOfNo({});
    assert(plain >= 3, `${plain} times no`);
    equal(await countOfNo({ presence_penalty: 2, frequency_penalty: 2 }), 1);
  },
};

const aborts: Checks = {
  async 'abort of a stream: the next request starts at once'(place) {
    const stream = await clientOf(place).chat.completions.create({ ...ENDLESS, stream: true });
    let text = '';
    for await (const { choices } of stream) {
      text += choices[0]?.delta.content ?? '';
      if (text.length > 20) stream.controller.abort();
    }
    await answersAtOnce(place);
  },

  async 'leaving a stream: the next request starts at once'(place) {
    const stream = await clientOf(place).chat.completions.create({ ...ENDLESS, stream: true });
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
    await answersAtOnce(place);
  },

  async 'abort of a whole answer: the next request starts at once'(place) {
    const controller = new AbortController();
    const asked = clientOf(place).chat.completions.create(ENDLESS, { signal: controller.signal });
    const count = place.heard.length;
    while (place.heard.length === count || lastHeard(place)!.tokens < 5) await new Promise((done) => setTimeout(done));
    controller.abort();
    await failureOf(APIUserAbortError, asked);
    await answersAtOnce(place);
  },

  async 'abort before the first token'(place) {
    const controller = new AbortController();
    const asked = clientOf(place).chat.completions.create({ ...ENDLESS, stream: true }, { signal: controller.signal });
    controller.abort();
    await failureOf(APIUserAbortError, asked);
    equal((await clientOf(place).chat.completions.create(HELLO)).choices[0]?.message.content, says('hello'));
  },
};

const embeddings: Checks = {
  async 'embeddings, in base64 by default'(place) {
    const request = { model: STORY, input: ['A bear in the woods', 'A boat'] };
    const { data, usage } = await clientOf(place).embeddings.create(request);
    const plain = await clientOf(place).embeddings.create({ ...request, encoding_format: 'float' });
    equal(
      data.map(({ index }) => index),
      [0, 1],
    );
    for (const [i, { embedding }] of data.entries()) {
      assert(embedding.length >= 64 && embedding.every(Number.isFinite), `${embedding.slice(0, 9)}`);
      equal(Array.from(new Float32Array(plain.data[i]!.embedding)), Array.from(embedding));
    }
    assert(JSON.stringify(data[0]!.embedding) !== JSON.stringify(data[1]!.embedding), 'Two texts have one embedding.');
    assert(usage.prompt_tokens > 2, JSON.stringify(usage));
  },
};

export const OPENAI_CHECKS: Checks = { ...answers, ...options, ...aborts, ...embeddings };
