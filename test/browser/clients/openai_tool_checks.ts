// The OpenAI SDK, unchanged, over engines in the page: tools, thinking and the interface of responses.

import { says } from '../../chain/chain_model';
import { clientOf } from './openai_checks';
import { assert, CHAIN, type Checks, equal, user } from './place';

const WEATHER = {
  name: 'weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const TOOLS = [{ type: 'function' as const, function: WEATHER }];
const ask = (content: string) => ({ model: CHAIN, messages: [user(content)], tools: TOOLS });

const tools: Checks = {
  async 'tools: none are called with tool_choice none'(place) {
    const { choices } = await clientOf(place).chat.completions.create({ ...ask('The weather?'), tool_choice: 'none' });
    equal([choices[0]!.message.content, choices[0]!.finish_reason], [says('hello'), 'stop']);
  },
};

const responses: Checks = {
  async 'responses, whole'(place) {
    const response = await clientOf(place).responses.create({ model: CHAIN, input: 'Hi', instructions: 'Be brief.' });
    equal([response.output_text, response.status], [says('hello'), 'completed']);
    assert(response.usage!.input_tokens > 10 && response.usage!.output_tokens > 5, JSON.stringify(response.usage));
  },

  async 'responses, as a stream'(place) {
    const stream = clientOf(place).responses.stream({ model: CHAIN, input: [user('All letters')] });
    let text = '';
    for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta;
    equal([text, (await stream.finalResponse()).output_text], [says('letters'), says('letters')]);
  },
};

export const OPENAI_TOOL_CHECKS: Checks = { ...tools, ...responses };
