// Steps of several conversations in one pass against the steps of each alone, and against itself with other neighbors.

import { describe, expect, test, vi } from 'vitest';
import type { KvType } from '../../../src/attention/kv_layout';
import { type Place, START, walkToken } from '../../../src/cpu/grammar';
import { logprobs as textbook } from '../../../src/cpu/logprobs';
import { recordPass } from '../../../src/gpu/kernel';
import type { Automaton } from '../../../src/grammar/automaton';
import { compileConstraint } from '../../../src/grammar/constraint';
import { automatonBytes } from '../../../src/grammar/packed';
import { SLOTS } from '../../../src/kernels/row_table';
import { Batch } from '../../../src/model/batch/batch';
import { checkBatch } from '../../../src/model/batch/batch_check';
import type { BatchFused } from '../../../src/model/batch/batch_layers';
import { ENTRY_WORDS } from '../../../src/model/batch/batch_logprobs';
import { timeBatch } from '../../../src/model/batch/batch_time';
import { readConfig } from '../../../src/model/config/read';
import { Llama } from '../../../src/model/llama';
import type { TokenTables } from '../../../src/model/output/constrainer';
import { sampleEnd } from '../../../src/model/output/sampler';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights } from '../../../src/model/weights/weights';
import { entryWords, readLogprobs } from '../../../src/sampling/logprobs';
import { GAVE_UP, penalizes, type SamplingParams } from '../../../src/sampling/sampling';
import { packTokens } from '../../../src/sampling/token_bytes';
import { openModel } from '../../../src/storage/model_file';
import { relativeError } from '../../close';
import { fixtureFolder } from '../../cpu/fixtures';
import { hardwareGpu, PATHS, testGpu, twinOf } from '../../gpu/test_device';
import { GREEDY, OFF } from '../../sampling/params';
import { droppedFolder } from '../fixtures/files';

const CONTEXT = 64;
/** Positions of a slot. Compiling takes most of the time, so most batches of a model have the same room and slots. */
const ROOM = 48;
const SAMPLED: SamplingParams = { ...OFF, temperature: 1, topK: 0, topP: 1, minP: 0 };

interface Chat {
  ids: readonly number[];
  params: SamplingParams;
  /** A regular expression of the answer. */
  source?: string;
}

const idsOf = (chat: number, length: number) => Array.from({ length }, (_, i) => (7 * i + (i >> 3) + 31 * chat) % 120);
const CHATS: readonly Chat[] = [
  { ids: idsOf(1, 9), params: GREEDY },
  { ids: idsOf(2, 1), params: { ...SAMPLED, seed: 5, topK: 9 } },
  { ids: idsOf(3, 30), params: { ...SAMPLED, seed: 6, topP: 0.8 } },
  { ids: idsOf(4, 12), params: GREEDY },
  { ids: idsOf(5, 17), params: { ...SAMPLED, seed: 7, minP: 0.1, temperature: 1.5 } },
];

const PENALTIES = { repetitionPenalty: 1.4, presencePenalty: 0.6, frequencyPenalty: 0.3 };
const biasesOf = (...biases: readonly [id: number, bias: number, forbiddenUntil?: number][]) =>
  biases.map(([id, bias, forbiddenUntil = 0]) => ({ id, bias, forbiddenUntil }));
/** Chats whose logits are changed, each in another way, beside one whose are not. */
const CHANGED: readonly Chat[] = [
  { ids: idsOf(1, 9), params: { ...GREEDY, ...PENALTIES, answerStart: 9 } },
  { ids: idsOf(2, 3), params: { ...GREEDY, seed: 5 } },
  { ids: idsOf(3, 30), params: { ...SAMPLED, seed: 6, topP: 0.8, repetitionPenalty: 1.2, answerStart: 30 } },
  { ids: idsOf(4, 12), params: { ...GREEDY, biases: biasesOf([7, 4], [19, -8], [64, 3]), answerStart: 12 } },
  {
    ids: idsOf(5, 17),
    params: { ...GREEDY, presencePenalty: 2, biases: biasesOf([33, 9, 20], [12, 6]), answerStart: 17 },
  },
];

/** The id that ends an answer. */
const END = 1;

/** Of each id the byte, as far as there are bytes. */
const bytesOf = (id: number) => (id < 256 ? Uint8Array.of(id) : new Uint8Array());

const automata = new Map<string, Automaton>();
function automatonOf(source: string): Automaton {
  const automaton = automata.get(source) ?? compileConstraint({ kind: 'regex', source }).automaton;
  automata.set(source, automaton);
  return automaton;
}

/** Where the document of a chat stands behind some ids of its answer. */
function placeAfter({ source }: Chat, answer: readonly number[]): Place | undefined {
  if (source === undefined) return undefined;
  const automaton = automatonOf(source);
  return answer.reduce<Place>((at, id) => (id === END ? at : (walkToken(automaton, at, bytesOf(id)) as Place)), START);
}

const [MORE, MANY] = ['([a-c]\\d{1,3})+', '([b-d][0-5]{0,2}){1,1999}'];
/** Chats with constraints, one of which needs more memory than others, and one without. */
const CONSTRAINED: readonly Chat[] = [
  { ids: idsOf(1, 9), params: { ...GREEDY, ...PENALTIES, answerStart: 9 }, source: MORE },
  { ids: idsOf(2, 3), params: GREEDY },
  { ids: idsOf(3, 30), params: { ...SAMPLED, seed: 6, topP: 0.8 }, source: MORE },
  { ids: idsOf(4, 12), params: { ...SAMPLED, seed: 7 }, source: MANY },
  { ids: idsOf(5, 17), params: { ...GREEDY, biases: biasesOf([99, 9]), answerStart: 17 }, source: '([a-f]{2}x)+' },
];

async function open(
  name: string,
  activations: 'f32' | 'q8' = 'f32',
  device = testGpu(),
  contextLength = CONTEXT,
  quantize?: 'q8',
  kvType: KvType = 'f32',
) {
  const gpu = await device;
  const files = await openModel(droppedFolder(fixtureFolder(name)));
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config, quantize);
  const options = { contextLength, kvType, attention: 'fused_decode', activations } as const;
  const llama = await Llama.create(gpu, config, weights, options);
  await read(files);
  llama.start(weights);
  await llama.changeLogits();
  const word = async (position: number) => new Uint32Array(await gpu.read(llama.tokens))[position];
  const endOf = ({ params, source }: Chat) =>
    sampleEnd({
      masks: source !== undefined,
      biases: params.biases.length > 0,
      penalizes: penalizes(params),
      reports: false,
    });
  /** Runs a chat's prompt. Returns the token after it. */
  const prompt = async (chat: Chat) => {
    const { ids, params, source } = chat;
    llama.setSampling(params);
    if (source !== undefined) {
      await llama.constrain(automatonOf(source), packTokens(config.vocabSize, bytesOf, [END]));
      llama.setPlace(ids.length, START);
    }
    llama.writeTokens(Uint32Array.from(ids), 0);
    await llama.pass(ids.length, endOf(chat), 0).run({ position: 0, nTokens: ids.length });
    return word(ids.length);
  };
  /** The tokens of an answer alone, and the logits behind each but the first. */
  const alone = async (chat: Chat, count: number) => {
    const answer = [await prompt(chat)];
    const logits: Float32Array[] = [];
    for (let i = 1; i < count; i++) {
      const position = chat.ids.length + i - 1;
      await llama.pass(1, endOf(chat), position).run({ position, nTokens: 1 });
      logits.push(await llama.readLogits());
      answer.push(await word(position + 1));
    }
    return { answer, logits };
  };
  const batch = (slots: number, room: number, fused: BatchFused | null = null) =>
    Batch.create(llama.batchSources, slots, room, fused);
  return { gpu, llama, prompt, alone, batch };
}

/** A model whose products are of signed bytes, and whose steps can be fused. */
const openQ8 = () => open('qwen2', 'q8', testGpu(), CONTEXT, 'q8');

/** With 0 for what cannot be drawn. */
const finite = (logits: Float32Array) => logits.map((logit) => (logit === Number.NEGATIVE_INFINITY ? 0 : logit));

type Model = Awaited<ReturnType<typeof open>>;

/** Runs a step, and returns the ids of all slots. */
async function step({ gpu }: Model, batch: Batch): Promise<Uint32Array> {
  const { pass, at } = batch.next();
  const encoder = gpu.device.createCommandEncoder();
  recordPass(gpu, encoder, [pass]);
  gpu.submit(encoder.finish());
  return new Uint32Array(await gpu.read({ buffer: batch.tokens, offset: 4 * at, size: 32 }));
}

/** The answers of chats in a batch, chat i in slot i; they join at steps of their own and leave after `count` tokens. */
async function together(model: Model, batch: Batch, chats: readonly Chat[], joins: readonly number[], count: number) {
  const answers: number[][] = chats.map(() => []);
  const logits: Float32Array[][] = chats.map(() => []);
  const kvBranches = await model.llama.kvParking.prepare();
  let members: number[] = [];
  for (let now = 0; answers.some(({ length }) => length < count); now++) {
    const stay = members.filter((i) => answers[i].length < count);
    const fresh = chats.map((_, i) => i).filter((i) => joins[i] === now);
    for (const i of fresh) {
      const chat = chats[i];
      answers[i].push(await model.prompt(chat));
      if (chat.source)
        await batch.constrain(i, automatonOf(chat.source), model.llama.batchSources.tables as TokenTables);
      batch.fill(i, Uint32Array.from(chat.ids), chat.params, kvBranches, placeAfter(chat, answers[i]));
    }
    if (fresh.length > 0 || stay.length < members.length) {
      members = [...stay, ...fresh];
      const rows = members.map((i) => ({ slot: i, position: chats[i].ids.length + answers[i].length - 1 }));
      batch.setRows(rows.map((row) => (fresh.includes(row.slot) ? { ...row, id: answers[row.slot][0] } : row)));
    }
    const ids = await step(model, batch);
    const read = await batch.readLogits();
    for (const [row, i] of members.entries()) {
      answers[i].push(ids[i]);
      logits[i].push(read[row]);
    }
  }
  return { answers, logits };
}

describe.each([
  ['f16_group3_hd32_bias_sharded', 'f32', () => testGpu(PATHS[1]), [CHATS, CONSTRAINED, CHANGED]],
  ['gemma3', 'f32', testGpu, [CHATS, CONSTRAINED, CHANGED]],
  ['f16_group3_hd32_bias_sharded', 'q8', () => testGpu(PATHS[1]), [CHATS]],
  ['gemma3', 'q8', hardwareGpu, [CHATS]],
] as const)('%s, keys and values in %s', (name, kvType, device, sets) => {
  test('answers and logits are those of each alone, whoever joins and leaves', async () => {
    const model = await open(name, 'f32', device(), CONTEXT, undefined, kvType);
    for (const chat of CONSTRAINED) await model.prompt(chat); // the model's own tables stay
    const before = model.gpu.allocatedBytes;
    const batch = await model.batch(CHATS.length, ROOM);
    expect(automatonBytes(automatonOf(MANY))).toBeGreaterThan(64 * 1024); // more than each slot has at first
    const count = 5;
    for (const chats of sets) {
      const { answers, logits } = await together(model, batch, chats, [0, 0, 1, 2, 3], count);
      const same = await together(model, batch, chats, [4, 3, 0, 0, 0], count);
      expect(same).toEqual({ answers, logits }); // bit by bit, beside others
      for (const [i, chat] of chats.entries()) {
        const alone = await model.alone(chat, count);
        expect(answers[i]).toEqual(alone.answer);
        if (chat.source) expect(placeAfter(chat, answers[i])).toBeTruthy();
        for (const [t, each] of alone.logits.entries())
          expect(relativeError(finite(logits[i][t]), finite(each))).toBeLessThan(2e-5);
      }
    }
    batch.destroy();
    expect([model.gpu.failure, model.gpu.allocatedBytes]).toEqual([null, before]);
  });
});

test('a conversation comes back from its slot, and goes on', async () => {
  const model = await open('gemma3');
  const { llama } = model;
  const batch = await model.batch(CHATS.length, ROOM);
  const [chat] = CHATS;
  const expected = await model.alone(chat, 12);
  const first = await model.prompt(chat);
  const kv = batch.fill(1, Uint32Array.from(chat.ids), chat.params, await llama.kvParking.prepare());
  await model.prompt(CHATS[2]); // takes the cache
  batch.setRows([{ slot: 1, position: chat.ids.length, id: first }]);
  const answer = [first];
  for (let i = 0; i < 5; i++) answer.push((await step(model, batch))[1]);
  const ids = Uint32Array.from([...chat.ids, ...answer]);
  kv.wrote(ids.length - 1);
  kv.restore(ids.slice(0, -1));
  llama.setSampling(chat.params);
  llama.writeTokens(ids.slice(-1), ids.length - 1);
  for (let position = ids.length - 1; answer.length < 12; position++) {
    await llama.pass(1, 'sample', position).run({ position, nTokens: 1 });
    answer.push(new Uint32Array(await model.gpu.read(llama.tokens))[position + 1]);
  }
  expect(answer).toEqual(expected.answer);
  batch.destroy();
});

test.each([
  ['as the head left them', 'gemma3', PATHS[0]],
  ['before biases and penalties', 'f16_group3_hd32_bias_sharded', PATHS[1]],
] as const)('log probabilities of each row, %s', async (when, name, without) => {
  const model = await open(name, 'f32', testGpu(without));
  const before = model.gpu.allocatedBytes;
  const batch = await model.batch(CHATS.length, ROOM);
  await batch.reportLogprobs();
  const most = [3, null, 20, 0, 1];
  /** The logits and ids of a step of all chats in other slots than rows, and the entries of its report. */
  const stepOf = async (chats: readonly Chat[]) => {
    const slots = chats.map((_, i) => (i + 2) % chats.length);
    const rows = slots.map((slot, i) => ({ slot, position: chats[i].ids.length - 1, id: chats[i].ids.at(-1) }));
    for (const [i, { ids, params }] of chats.entries()) {
      await model.prompt(chats[i]);
      const asked = { ...params, logprobs: most[i] };
      batch.fill(slots[i], Uint32Array.from(ids.slice(0, -1)), asked, await model.llama.kvParking.prepare());
    }
    batch.setRows(rows);
    const { pass, at, reportAt } = batch.next();
    const encoder = model.gpu.device.createCommandEncoder();
    recordPass(model.gpu, encoder, [pass]);
    model.gpu.submit(encoder.finish());
    const ids = new Uint32Array(await model.gpu.read({ buffer: batch.tokens, offset: 4 * at, size: 4 * SLOTS }));
    const words = new Uint32Array(await model.gpu.read(batch.ring!));
    const reports = slots.map((slot, i) => {
      const first = (reportAt ?? Number.NaN) + slot * ENTRY_WORDS;
      const entry = words.subarray(first, first + entryWords(most[i] ?? 0));
      return readLogprobs(Uint32Array.of(ids[slot], ...entry), 1, most[i] ?? 0).logprobs[0];
    });
    return { ids: slots.map((slot) => ids[slot]), logits: await batch.readLogits(), reports };
  };
  const plain = await stepOf(CHANGED.map(({ ids }) => ({ ids, params: GREEDY })));
  const { ids, reports } = when.startsWith('as') ? plain : await stepOf(CHANGED);
  for (const [i, k] of most.entries()) {
    if (k === null) continue;
    const wanted = textbook(plain.logits[i], ids[i], k);
    expect(reports[i].top.map(({ id }) => id)).toEqual(wanted.top.map(({ id }) => id));
    expect(reports[i].chosen).toBeCloseTo(wanted.chosen, 4);
    for (const [j, { logprob }] of reports[i].top.entries()) expect(logprob).toBeCloseTo(wanted.top[j].logprob, 4);
  }
  batch.destroy();
  expect([model.gpu.failure, model.gpu.allocatedBytes]).toEqual([null, before]);
});

test('a slot tells which positions its rings have lost, whatever the rings of the cache hold', async () => {
  const model = await open('gemma3', 'f32', testGpu(), 1300);
  const kvBranches = await model.llama.kvParking.prepare();
  const batch = await model.batch(2, 1300);
  const kv = batch.fill(1, new Uint32Array(), GREEDY, kvBranches);
  expect(kv.least).toBe(0);
  kv.wrote(1200);
  expect([kv.least, model.llama.kvParking.least]).toEqual([1200 - 1024, 0]);
  batch.destroy();
});

test('a batch of signed bytes steps in signed bytes', async () => {
  const model = await openQ8();
  const batch = await model.batch(3, ROOM);
  batch.setRows([{ slot: 0, position: 0, id: 1 }]);
  expect(batch.next().pass.list.commands.map(({ label }) => label)).toContain('kernels/qkv.matmul_few_q8');
  const { answers } = await together(model, batch, CHATS.slice(0, 2), [0, 0], 5);
  const again = await together(model, batch, CHATS.slice(0, 2), [3, 0], 5);
  expect(again.answers).toEqual(answers);
  batch.destroy();
});

/** A dispatch for each phase, so that no workgroup waits for another. */
const FUSED: BatchFused = { launch: { groups: 16, threads: 64 }, spins: 1 << 20, test: { apart: true } };

describe('fused steps', () => {
  const dispatches = (batch: Batch) => batch.next().pass.list.commands.length;

  test('are right, and the same bit by bit beside others and in other rows', async () => {
    const model = await openQ8();
    const before = model.gpu.allocatedBytes;
    const batch = await model.batch(CHATS.length, ROOM, FUSED);
    const { ids } = CHATS[2];
    await model.prompt(CHATS[2]);
    await checkBatch(model.gpu, model.llama, batch, Uint32Array.from(ids));
    const answers = await together(model, batch, CHATS, [0, 0, 1, 2, 3], 5);
    expect(await together(model, batch, CHATS, [4, 3, 0, 0, 0], 5)).toEqual(answers);
    batch.destroy();
    expect([model.gpu.failure, model.gpu.allocatedBytes]).toEqual([null, before]);
  });

  test('are compiled ahead of the batch', async () => {
    const model = await openQ8();
    const before = model.gpu.allocatedBytes;
    const { launch, spins } = FUSED;
    await Batch.prepare(model.llama.batchSources, 3, ROOM, { launch, spins });
    expect(model.gpu.allocatedBytes).toBe(before);
    const compiling = vi.spyOn(model.gpu.device, 'createComputePipelineAsync');
    const { pipelines } = model.gpu.counters;
    const batch = await model.batch(3, ROOM, { launch, spins });
    expect(compiling.mock.calls.map(([{ label }]) => label)).not.toContain('kernels/step');
    compiling.mockRestore();
    // The embedding, the head and the quantization of x, the maxima, the draw, biases, penalties and their counts.
    expect(model.gpu.counters.pipelines - pipelines).toBeLessThanOrEqual(8);
    batch.setRows([{ slot: 0, position: 0, id: 1 }]);
    expect(dispatches(batch)).toBeLessThan(8);
    batch.destroy();
  });

  test.each([
    ['more workgroups than the launch has', { ...FUSED, launch: { groups: 2, threads: 64 } }, openQ8, 3],
    ['another architecture', FUSED, () => open('gemma3'), CHATS.length],
  ] as const)('that would need %s leave a dispatch for each operation', async (_, fused, openIt, slots) => {
    const model = await openIt();
    const batch = await model.batch(slots, ROOM, fused);
    batch.setRows([{ slot: 0, position: 0, id: 1 }]);
    expect(dispatches(batch)).toBeGreaterThan(14);
    batch.destroy();
  });

  test('behind one that gave up bring no id', async () => {
    const model = await openQ8();
    const batch = await model.batch(2, ROOM, {
      ...FUSED,
      spins: 1,
      test: { apart: true, publish: 'fn publish(i: u32, payload: u32, tag: u32) {}' },
    });
    batch.setRows([
      { slot: 0, position: 0, id: 1 },
      { slot: 1, position: 0, id: 2 },
    ]);
    expect([...(await step(model, batch)).slice(0, 2)]).toEqual([GAVE_UP, GAVE_UP]);
    batch.setRows([{ slot: 1, position: 0, id: 2 }]);
    expect((await step(model, batch))[1]).toBe(GAVE_UP); // the batch is dead, whoever comes
    batch.destroy();
  });

  test('are timed beside the step of one, which changes nothing', async () => {
    const model = await openQ8();
    const batch = await model.batch(CHATS.length, ROOM, FUSED);
    const expected = await model.alone(CHATS[2], 3);
    const pass = vi.spyOn(model.llama, 'pass');
    const cost = await timeBatch(model.gpu, model.llama, batch, CHATS[2].ids.length);
    expect(pass.mock.calls).toEqual([[1, 'sample', batch.room - 2]]); // as many keys as in the batch
    pass.mockRestore();
    expect(cost(1)).toBe(cost(2));
    expect(cost(CHATS.length)).toBeGreaterThan(0);
    expect(await model.alone(CHATS[2], 3)).toEqual(expected);
    batch.destroy();
  });
});

describe('the check of a batch', () => {
  const [, , { ids }] = CHATS;

  test.each([
    ['f32', () => open('gemma3'), CHATS.length],
    ['q8', openQ8, 3],
  ] as const)(
    'in %s a right one passes, and the model goes on as if nothing had been',
    async (activations, openIt, slots) => {
      const model = await openIt();
      expect(model.llama.activations).toBe(activations);
      const expected = await model.alone(CHATS[2], 6);
      const first = await model.prompt(CHATS[2]);
      const batch = await model.batch(slots, ROOM);
      await checkBatch(model.gpu, model.llama, batch, Uint32Array.from([...ids, first]));
      batch.destroy();
      const next = await model.alone(CHATS[2], 6);
      expect(next.answer).toEqual(expected.answer);
    },
  );

  test.each([
    [
      'slots',
      'kv_slot(token: u32) -> u32 { return batch_rows[token].x; }',
      'kv_slot(token: u32) -> u32 { return 0u; }',
      /are off by/,
    ],
    ['rows of logits', 'const BATCHED = true;', 'const BATCHED = false;', /off by|not the likeliest/],
  ])('wrong %s are found', async (_, right, wrong, message) => {
    const { device } = await testGpu();
    const { createShaderModule } = device;
    let changed = 0;
    const change = vi.spyOn(device, 'createShaderModule').mockImplementation((descriptor) => {
      const code = descriptor.code.replace(right, wrong);
      if (code !== descriptor.code) changed++;
      return createShaderModule.call(device, { ...descriptor, code });
    });
    const model = await open('gemma3', 'f32', testGpu().then(twinOf));
    const first = await model.prompt(CHATS[2]);
    const batch = await model.batch(CHATS.length, ROOM);
    change.mockRestore();
    expect(changed).toBeGreaterThan(0);
    const check = checkBatch(model.gpu, model.llama, batch, Uint32Array.from([...ids, first]));
    await expect(check).rejects.toThrow(message);
    batch.destroy();
  });
});
