// LangChain.js, unchanged, over engines in the page.

import { ChatOpenAI } from '@langchain/openai';
import { says } from '../../chain/chain_model';
import { assert, BASE_URL, CHAIN, type Checks, equal, type Place } from './place';

const connection = ({ fetch }: Place) => ({
  apiKey: 'none',
  maxRetries: 0,
  configuration: { baseURL: BASE_URL, fetch, dangerouslyAllowBrowser: true },
});
const chatOf = (place: Place) => new ChatOpenAI({ model: CHAIN, ...connection(place) });

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
};
