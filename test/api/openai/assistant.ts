// A scripted engine that plays an assistant for tests with real clients: it chats, fails, is slow, thinks, and calls a
// tool.

import { createFetch } from '../../../src/api/openai/fetch';
import {
  type Asked,
  done,
  FOREVER,
  failure,
  LOSS,
  type Script,
  scriptedEngine,
  start,
  token,
  words,
} from '../scripted_engine';

const CALL: Script = [
  start(),
  token(''),
  { type: 'tool-call', index: 0, id: 'call_1', name: 'weather', arguments: '' },
  token(''),
  { type: 'tool-call', index: 0, arguments: '{"city":' },
  'task',
  token(''),
  { type: 'tool-call', index: 0, arguments: '"Bern"}' },
  done({ finishReason: 'tool-calls' }),
];

/** A call that breaks off at the end of the tokens. */
const CUT_CALL: Script = [
  start(),
  token(''),
  { type: 'tool-call', index: 0, id: 'call_1', name: 'weather', arguments: '' },
  { type: 'tool-call', index: 0, arguments: '{"city":"Be' },
  'task',
  { type: 'tool-call-error', index: 0, message: 'The call has no end.', text: '<call>{"city":"Be' },
  done({ finishReason: 'length' }),
];

const THINK: Script = [
  start(),
  token(''),
  { type: 'reasoning', text: 'Let me ' },
  token(''),
  { type: 'reasoning', text: 'see.' },
  ...words('It is 4.'),
  done(),
];

function answer({ messages, prompt, options }: Asked): Script {
  const last = messages.at(-1);
  if (!last) return [start(), ...words(`After ${prompt}`), done()];
  if (last.content === 'boom')
    return [failure('context-overflow', 'The prompt has 9 tokens, but the context holds 8.')];
  if (last.content === 'late boom')
    return [start(), ...words('a few words '), 'task', failure('device-lost', 'The GPU device was lost.')];
  if (last.content === 'lost')
    return [...LOSS, start(), ...words('a few '), 'task', ...LOSS, ...words('words'), done()];
  if (last.content === 'lost for good') return [LOSS[0], 'task', failure('device-lost', 'The GPU was lost.')];
  if (options.constraint) return [start(), ...words('{"city": "Bern", "near": null}'), done()];
  if (last.content === 'slow') return [start(), ...words('one two '), FOREVER, ...words('three'), done()];
  if (last.content === 'think') return THINK;
  if (last.content === 'cut') return [start(), ...words('a long'), done({ finishReason: 'length' })];
  if (last.role === 'tool') return [start(), ...words(`It is ${JSON.parse(last.content).degrees} degrees.`), done()];
  if (options.tools && last.content === 'cut weather') return CUT_CALL;
  if (options.tools && /weather/.test(last.content)) return CALL;
  return [start(), ...words(`You said: ${last.content}`), done()];
}

/** A fetch, and the engine behind it. */
export function createAssistant() {
  const engine = scriptedEngine(answer);
  return { engine, fetch: createFetch(engine) };
}
