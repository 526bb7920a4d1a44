// LangChain.js, unchanged, over engines in the page.

import { HumanMessage, type ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { z } from 'zod';
import { says } from '../../chain/chain_model';
import { assert, BASE_URL, CHAIN, type Checks, equal, type Place, STORY } from './place';

const connection = ({ fetch }: Place) => ({
  apiKey: 'none',
  maxRetries: 0,
  configuration: { baseURL: BASE_URL, fetch, dangerouslyAllowBrowser: true },
});
const chatOf = (place: Place) => new ChatOpenAI({ model: CHAIN, ...connection(place) });

const weather = tool(({ city }) => `21 degrees in ${city}`, {
  name: 'weather',
  description: 'The weather of a city.',
  schema: z.object({ city: z.string(), days: z.number().int().optional() }),
});

export const LANGCHAIN_CHECKS: Checks = {
  async 'LangChain.js: invoke'(place) {
    const { content, usage_metadata: usage } = await chatOf(place).invoke('Hi');
    equal(content, says('hello'));
    assert(usage!.input_tokens > 10, JSON.stringify(usage));
  },

  async 'LangChain.js: stream'(place) {
    let text = '';
    for await (const chunk of await chatOf(place).stream('All letters')) text += chunk.content;
    equal(text, says('letters'));
  },

  async 'LangChain.js: a tool and its result'(place) {
    const chat = chatOf(place).bindTools([weather]);
    const asked = new HumanMessage('The weather?');
    const answer = await chat.invoke([asked]);
    const [call] = answer.tool_calls!;
    equal([call!.name, call!.args.city], ['weather', 'Bern']);
    const result = (await weather.invoke(call!)) as ToolMessage;
    equal((await chat.invoke([asked, answer, result])).content, says('result'));
  },

  async 'LangChain.js: embeddings'(place) {
    const embeddings = new OpenAIEmbeddings({ model: STORY, ...connection(place) });
    const [first, second] = await embeddings.embedDocuments(['A bear', 'A boat']);
    assert(first!.length >= 64 && first!.length === second!.length, `${first!.length}`);
  },
};
