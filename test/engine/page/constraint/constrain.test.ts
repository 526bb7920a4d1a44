// What the page compiles for a request: the document, the calls of tools, both, or nothing.

import { describe, expect, test } from 'vitest';
import { mayEnd, START, walk } from '../../../../src/cpu/grammar';
import { asksForConstraint } from '../../../../src/engine/page/constraint/asked_constraint';
import { constrained } from '../../../../src/engine/page/constraint/constrain';
import type {
  GenerateInput,
  GenerateOptions,
  ThinkingAbility,
  Tool,
  ToolChoice,
} from '../../../../src/engine/protocol';
import type { AnswerForm } from '../../../../src/text/answer/answer_form';

const CALLS: AnswerForm['calls'] = {
  ...{ kind: 'json', begin: '<call>', middle: ' ', end: '', next: null, last: '</call>', tags: null },
  trigger: '<call>',
};
const FORM: AnswerForm = { thinking: { open: '<think>', close: '</think>' }, calls: CALLS, controls: [] };
const modelOf = (form: AnswerForm | null = FORM, thinking: ThinkingAbility = 'optional') => ({
  info: { thinking },
  form,
});

const f: Tool = { name: 'f', parameters: { type: 'object', properties: { a: { const: 1 } }, required: ['a'] } };
const inputOf = (tools: unknown, toolChoice?: ToolChoice) =>
  ({ messages: [{ role: 'user', content: 'Hi' }], tools, toolChoice }) as GenerateInput;

async function takes(text: string, input: GenerateInput, options: GenerateOptions = {}, model = modelOf()) {
  const { constraint } = await constrained(model, input, options);
  if (!constraint) return 'anything';
  const place = walk(constraint.automaton, START, new TextEncoder().encode(text));
  return place === null ? 'nothing' : mayEnd(constraint.automaton, place) ? 'whole' : 'begun';
}

describe('tools', () => {
  test('have their calls constrained, and nothing else', async () => {
    const { constraint, warnings } = await constrained(modelOf(), inputOf([f]), {});
    expect(constraint?.onlyCalls).toBe(true);
    expect(warnings).toEqual([]);
    expect(await takes('Hi <call', inputOf([f]))).toBe('whole');
    expect(await takes('Hi <call>f {"a":1}', inputOf([f]))).toBe('begun');
    expect(await takes('Hi <call>f {"a":1}</call> Bye', inputOf([f]))).toBe('whole');
    expect(await takes('Hi <call>f {"a":2', inputOf([f]))).toBe('nothing');
    expect(await takes('Hi <call>g', inputOf([f], 'required'))).toBe('nothing');
    expect(await takes('<think> <call>g </think><call>', inputOf([f]))).toBe('begun');
    expect(await takes('<think> <call>g </think><call>g', inputOf([f]))).toBe('nothing');
  });

  test.each([
    ['where they may not be called', modelOf(), inputOf([f], 'none'), {}],
    ['where their arguments shall be free', modelOf(), inputOf([f]), { toolArguments: 'free' }],
    ['of a model whose calls are in another notation', modelOf({ ...FORM, calls: null }), inputOf([f]), {}],
    ['of a model without a template', modelOf(null), inputOf([f]), {}],
    ['that are none', modelOf(), inputOf([f, { name: 5 }]), {}],
    ['that are no list', modelOf(), inputOf('f'), {}],
    ['of which there are none', modelOf(), inputOf([]), {}],
    ['of a text', modelOf(), { prompt: 'Hi' }, {}],
  ] as [string, ReturnType<typeof modelOf>, GenerateInput, GenerateOptions][])(
    '%s are left alone',
    async (_, model, input, options) => {
      expect(asksForConstraint(model, input, options)).toBe(false);
      expect(await constrained(model, input, options)).toEqual({ warnings: [] });
    },
  );

  test('with a schema that cannot be enforced are a warning that names tool and keyword', async () => {
    const odd = { name: 'odd', parameters: { type: 'object', properties: { x: { not: {} } } } };
    const { constraint, warnings } = await constrained(modelOf(), inputOf([f, odd]), {});
    expect(constraint?.onlyCalls).toBe(true);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/"odd".*"not"/);
    expect(await takes('<call>odd {"y": []}</call>', inputOf([f, odd]))).toBe('whole');
    const names = Array.from({ length: 9 }, (_, i) => ({ name: `${i}`.repeat(9000) }));
    const tooMuch = await constrained(modelOf({ ...FORM, calls: { ...CALLS, trigger: null } }), inputOf(names), {});
    expect(tooMuch).toEqual({ warnings: [expect.stringContaining('not constrained')] });
  });
});

describe('a document', () => {
  const constraint = { kind: 'choice', texts: ['yes', 'no'] } as const;
  const input = inputOf(undefined);

  test('comes behind thinking where the model thinks', async () => {
    const [on, always] = [{ constraint, thinking: 'on' } as const, modelOf(FORM, 'always')];
    expect(await takes('<think>Well.</think>\n\nyes', input, on)).toBe('whole');
    expect(await takes('<think>Well.</think>\n\nyes', input, { constraint }, always)).toBe('whole');
    expect(await takes('<think>Well.</think>\n\nmaybe', input, on)).toBe('nothing');
    expect(await takes('<think>yes', input, on)).toBe('begun');
    expect(await takes('<think>', input, { constraint })).toBe('nothing');
    expect(await takes('<think>', { prompt: 'Hi' }, on)).toBe('nothing');
    expect(await takes('no', input, on)).toBe('whole');
  });

  test('gives way to calls', async () => {
    expect((await constrained(modelOf(), inputOf([f]), { constraint })).constraint?.onlyCalls).toBe(false);
    expect(await takes('<call>f {"a":1}</call>', inputOf([f]), { constraint })).toBe('whole');
    expect(await takes('no', inputOf([f]), { constraint })).toBe('whole');
    expect(await takes('Hi', inputOf([f]), { constraint })).toBe('nothing');
    const { warnings } = await constrained(modelOf({ ...FORM, calls: null }), inputOf([f]), { constraint });
    expect(warnings).toHaveLength(1);
  });

  test('is compiled once, by its exact text', async () => {
    const automaton = async (schema: unknown) =>
      (await constrained(modelOf(), input, { constraint: { kind: 'json_schema', schema } })).constraint?.automaton;
    const first = await automaton({ const: 1 });
    expect(await automaton({ const: 1 })).toBe(first);
    const second = await automaton({ const: 2 });
    expect(second).not.toBe(first);
    for (let i = 3; i < 3 + 15; i++) {
      await automaton({ const: i });
      expect(await automaton({ const: 2 })).toBe(second); // the newest stay
    }
    expect(await automaton({ const: 1 })).not.toBe(first); // the oldest went
    const circle: Record<string, unknown> = {};
    circle.not = circle;
    await expect(automaton(circle)).rejects.toMatchObject({ code: 'constraint' });
  });
});
