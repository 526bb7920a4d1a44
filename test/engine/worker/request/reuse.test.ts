// What requests leave for later ones: answers spelled as generated, thinking that a template drops, system prompts.

import { beforeAll, describe, expect, test } from 'vitest';
import { CpuBackend, loadCpuWeights } from '../../../../src/engine/backend/cpu_backend';
import type { ChatMessage, EngineEvent, GenerateOptions } from '../../../../src/engine/protocol';
import { generate } from '../../../../src/engine/worker/generate';
import { Branches } from '../../../../src/engine/worker/prefix_cache/branches';
import { LateBranches } from '../../../../src/engine/worker/prefix_cache/late_branches';
import { encodeInput, systemTokens } from '../../../../src/engine/worker/request/prompt';
import { withMemory } from '../../../../src/engine/worker/request/reuse';
import type { Session } from '../../../../src/engine/worker/request/session';
import { DeviceLostError, GpuMemoryError } from '../../../../src/errors';
import { readConfig } from '../../../../src/model/config/read';
import { resolveTensors } from '../../../../src/model/weights/tensors';
import { openModel } from '../../../../src/storage/model_file';
import { createTokenizer } from '../../../../src/text/any_tokenizer';
import { type ChatTemplate, createChatTemplate } from '../../../../src/text/template/chat_template';
import { findChatTemplate } from '../../../../src/text/template/find_template';
import type { ChatRequest } from '../../../../src/text/template/message';
import type { Tokenizer } from '../../../../src/text/tokenizer';
import { chainFiles } from '../../../chain/chain_model';
import { ScriptBackend } from '../../doubles/script_backend';

async function ask(session: Session, messages: readonly ChatMessage[], options: GenerateOptions = {}) {
  const events: EngineEvent[] = [];
  const given = { temperature: 0, ...options };
  await generate(
    session,
    { messages },
    given,
    (some) => void events.push(...some),
    () => false,
  );
  const text = events.map((event) => (event.type === 'token' || event.type === 'done' ? event.text : '')).join('');
  const start = events.find((event) => event.type === 'start');
  const done = events.find((event) => event.type === 'done');
  if (!start || !done) throw new Error('the answer has no start or no end');
  return { text, promptIds: start.promptIds, usage: done.usage, report: done.metrics.cache?.report };
}

const user = (content: string): ChatMessage => ({ role: 'user', content });
const bot = (content: string): ChatMessage => ({ role: 'assistant', content });

describe('an answer in other tokens than the tokenizer would choose', () => {
  /** Ids 97 to 122 are letters, 200 and more pairs of them, and 1 to 3 the frame. */
  const END = 1;
  const pairOf = (a: number, b: number) => 200 + 26 * (a - 97) + b - 97;
  const tokenizer = {
    eosIds: [END],
    tokenBytes: (id: number) => {
      if (id < 97) return new Uint8Array();
      return Uint8Array.from(id < 200 ? [id] : [97 + Math.floor((id - 200) / 26), 97 + ((id - 200) % 26)]);
    },
    isAdded: (id: number) => id < 97,
  } as Pick<Tokenizer, 'eosIds' | 'tokenBytes' | 'isAdded'> as Tokenizer;
  const pairs = (text: string) =>
    (text.match(/../g) ?? []).map((pair) => pairOf(pair.charCodeAt(0), pair.charCodeAt(1)));
  const template = {
    encode: ({ messages }: ChatRequest) => ({
      ids: Uint32Array.from([
        ...messages.flatMap(({ role, content }) => [role === 'user' ? 2 : 3, ...pairs(content), END]),
        3,
      ]),
      begun: '',
      goesOn: false,
    }),
    render: () => '',
    syntax: { thinking: null, tools: null },
  } satisfies ChatTemplate;
  const ANSWER = 'abcdefghijklmnopqrstuvwx';

  function open() {
    const backend = new ScriptBackend(200, (position) => ANSWER.charCodeAt(position - 7) || END);
    const branches = new Branches(
      { bytesPerToken: 1, bytesOf: (tokens: number) => tokens, least: 0, park: async () => null },
      0,
    );
    const session: Session = { backend, tokenizer, template, vocabSize: 1000, cachedIds: [], branches };
    return { backend, session };
  }

  test('stays as it was generated, and is not read again', async () => {
    const { backend, session } = open();
    const first = await ask(session, [user('question')]);
    expect(first.text).toBe(ANSWER);
    const second = await ask(session, [user('question'), bot(ANSWER), user('more')], { maxTokens: 1 });
    const said = Array.from(ANSWER, (letter) => letter.charCodeAt(0));
    expect(second.promptIds).toEqual([...first.promptIds, ...said, END, 2, ...pairs('more'), END, 3]);
    expect([second.usage.cachedTokens, second.report]).toEqual([7 + ANSWER.length, 'live']);
    expect(backend.prefills.at(-1)?.position).toBe(7 + ANSWER.length);
  });

  test('is spelled anew where nothing may be reused, or where it would fill the context', async () => {
    const { session } = open();
    await ask(session, [user('question')]);
    const messages = [user('question'), bot(ANSWER), user('more')];
    const anew = [...(await encodeInput({ messages }, undefined, session)).ids];
    const without = await ask(session, messages, { reuseCache: false, maxTokens: 1 });
    expect([without.promptIds, without.report]).toEqual([anew, 'off']);
    const { session: small } = open();
    await ask(small, [user('question')]);
    Object.assign(small.backend, { contextLength: anew.length + 2 });
    expect((await ask(small, messages, { maxTokens: 1 })).promptIds).toEqual(anew);
  });
});

describe.each(['at once', 'late'])('the chain model, whose branches come %s', (when) => {
  let open: () => Session;
  beforeAll(async () => {
    const files = await openModel(chainFiles());
    const config = readConfig(files);
    const backend = new CpuBackend(config, await loadCpuWeights(resolveTensors(files, config)), 512);
    const tokenizer = createTokenizer(files);
    const template = createChatTemplate(findChatTemplate(files) as string, tokenizer);
    open = () => {
      const session = { backend, tokenizer, template, vocabSize: 4096, cachedIds: [] };
      return when === 'late'
        ? { ...session, lateBranches: new LateBranches(backend.parking, 2 ** 30) }
        : { ...session, branches: new Branches(backend.parking, 2 ** 30) };
    };
  });
  const parkedTokens = ({ backend, branches }: Session) =>
    (branches?.held.bytes ?? 0) / (backend.parking?.bytesPerToken ?? 1);

  test('a chat is parked before the thinking that its template drops, and whole where there is none', async () => {
    const session = open();
    const { usage } = await ask(session, [user('please think about the sea, the sand and the wind')]);
    expect(usage.reasoningTokens).toBeGreaterThan(0);
    const other = await ask(session, [user('Quite another question with other words')]);
    expect(parkedTokens(session)).toBe(usage.promptTokens);
    await ask(session, [user('ZZZ')], { reuseCache: false });
    const both = usage.promptTokens + other.usage.promptTokens + other.usage.completionTokens - 1;
    expect(parkedTokens(session)).toBe(both);
  });

  test('the tokens of a system prompt end where the question begins', async () => {
    const session = open();
    const count = async (messages: readonly ChatMessage[]) => {
      const { ids, chat } = await encodeInput({ messages }, undefined, session);
      return { ids, tokens: systemTokens(ids, chat, session) };
    };
    const system: ChatMessage = { role: 'system', content: 'You are a kind helper of sailors.' };
    const { ids, tokens } = await count([system, user('Where is the sea?')]);
    const other = await count([system, user('And the land?'), bot('There.'), user('Where?')]);
    expect(tokens).toBeGreaterThan(10);
    expect(other.tokens).toBe(tokens);
    expect(other.ids.subarray(0, tokens)).toEqual(ids.subarray(0, tokens));
    expect((await count([user('Where is the sea?')])).tokens).toBe(0);
  });
});

test('work that is refused memory gives up the parked chats and runs again, once', async () => {
  const refusal = new GpuMemoryError('Tuning', 100, null, 'Close other pages.');
  const kv = { restore() {}, shrink: async () => null, extend: () => true, destroy() {} };
  const parking = { bytesPerToken: 1, bytesOf: (tokens: number) => tokens, least: 0, park: async () => kv };
  const branches = new Branches(parking, 1000);
  const fill = async () => {
    await branches.leave({ cachedIds: Array.from({ length: 40 }, (_, i) => i) });
    expect(branches.held.branches).toBe(1);
  };
  let runs = 0;
  const work = (times: number, error: Error = refusal) =>
    withMemory({ branches }, () => {
      if (++runs <= times) throw error;
      return runs;
    });
  await fill();
  expect([await work(1), branches.held.branches]).toEqual([2, 0]);
  runs = 0;
  await expect(work(1)).rejects.toBe(refusal); // nothing is left to give up
  await fill();
  const lost = new DeviceLostError('a test');
  await expect(work(9, lost)).rejects.toBe(lost);
  expect(branches.held.branches).toBe(1);
  runs = 0;
  await expect(work(9)).rejects.toBe(refusal);
  expect(runs).toBe(2);
});
