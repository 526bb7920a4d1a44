// The chain model says exactly its scripts, on the CPU and on the GPU and in every format of weights, and its template
// chooses them.

import { Template } from '@huggingface/jinja';
import { describe, expect, test } from 'vitest';
import type { Backend } from '../../src/engine/backend/backend';
import { CpuBackend, loadCpuWeights } from '../../src/engine/backend/cpu_backend';
import { WebGpuBackend } from '../../src/engine/backend/webgpu_backend';
import type { GenerateOptions } from '../../src/engine/protocol';
import { generate } from '../../src/engine/worker/generate';
import type { Session } from '../../src/engine/worker/request/session';
import { readConfig } from '../../src/model/config/read';
import { Llama } from '../../src/model/llama';
import { resolveTensors } from '../../src/model/weights/tensors';
import { allocateWeights, type QuantizedFormat } from '../../src/model/weights/weights';
import { openModel } from '../../src/storage/model_file';
import type { ModelFiles } from '../../src/storage/model_files';
import { createTokenizer } from '../../src/text/any_tokenizer';
import { findChatTemplate } from '../../src/text/template/find_template';
import { testGpu } from '../gpu/test_device';
import { chainFiles, chainModel, SCRIPTS, type ScriptName, says } from './chain_model';

const CONTEXT = 256;

async function cpuBackend(files: ModelFiles): Promise<Backend> {
  const config = readConfig(files);
  return new CpuBackend(config, await loadCpuWeights(resolveTensors(files, config)), CONTEXT);
}

const gpuBackend = (quantize?: QuantizedFormat) => async (files: ModelFiles) => {
  const gpu = await testGpu();
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config, quantize);
  const options = { contextLength: CONTEXT, kvType: 'f16', attention: 'fused_decode' } as const;
  const llama = await Llama.create(gpu, config, weights, { ...options, activations: quantize ? 'q8' : 'f32' });
  await read(files);
  llama.start(weights);
  return new WebGpuBackend(gpu, llama);
};

const BACKENDS = [
  { name: 'cpu', open: cpuBackend },
  { name: 'webgpu', open: gpuBackend() },
  { name: 'webgpu, q8', open: gpuBackend('q8') },
];

async function idsAfter(session: Session, prompt: string, options: GenerateOptions): Promise<number[]> {
  const ids: number[] = [];
  await generate(
    session,
    { prompt },
    options,
    (events) => {
      for (const event of events) if (event.type === 'token') ids.push(event.id);
    },
    () => false,
  );
  return ids;
}

describe.each(BACKENDS)('$name', ({ open }) => {
  test('says every script, at any temperature', async () => {
    const files = await openModel(chainFiles());
    const tokenizer = createTokenizer(files);
    const session = { backend: await open(files), tokenizer, template: null, vocabSize: 4096, cachedIds: [] };
    for (const script of SCRIPTS) {
      const forever = 'forever' in script;
      const drawn = { temperature: 2, topK: 0, topP: 1, minP: 0, seed: 7, maxTokens: forever ? 60 : undefined };
      const ids = await idsAfter(session, `<|start_${script.name}|>`, drawn);
      const text = tokenizer.decode(ids);
      if (forever) expect(script.says.repeat(10).startsWith(text) && text.length > 2 * script.says.length).toBe(true);
      else expect(text).toBe(script.says);
    }
    expect(tokenizer.decode(await idsAfter(session, 'Any other text', {}))).toBe(says('text'));
    expect(tokenizer.decode(await idsAfter(session, '{"name": "', {}))).toBe(says('required'));
    expect(tokenizer.decode(await idsAfter(session, '{"name": "weather", "arguments":', {}))).toBe(says('named'));
  });
});

describe('the template', () => {
  const { 'tokenizer_config.json': config } = chainModel();
  const source = findChatTemplate({
    tokenizerJson: null,
    tokenizerConfig: JSON.parse(new TextDecoder().decode(config)),
    generationConfig: null,
    gguf: null,
  });
  const template = new Template(source!);
  const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };
  const call = { type: 'function', function: { name: 'weather', arguments: { city: 'Bern' } } };
  const user = (content: string) => ({ role: 'user', content });
  const render = (messages: unknown[], more = {}) =>
    template.render({ messages, tools: null, add_generation_prompt: true, ...more });

  test.each<[ScriptName, unknown[], object]>([
    ['hello', [user('Hi')], {}],
    ['hello', [user('The weather?')], {}],
    ['hello', [{ role: 'system', content: 'think' }, user('Hi')], { tools: [weather] }],
    ['weather', [user('The weather?')], { tools: [weather] }],
    ['both', [user('The climate of both')], { tools: [weather] }],
    ['broken', [user('A broken call')], { tools: [weather] }],
    ['unknown', [user('An unknown tool')], { tools: [weather] }],
    ['plan', [user('A plan')], { tools: [weather] }],
    ['hello', [user('A plan')], { tools: [weather], enable_thinking: false }],
    ['think', [user('Please think')], {}],
    ['think', [user('Please think')], { enable_thinking: true }],
    ['hello', [user('Please think')], { enable_thinking: false }],
    ['endless', [user('An endless story')], {}],
    ['letters', [user('All letters')], {}],
    ['result', [user('The weather?'), { role: 'tool', content: '21' }], { tools: [weather] }],
  ])('chooses %s', (name, messages, more) => {
    expect(render(messages, more).match(/<\|start_.*$/)?.[0]).toBe(`<|start_${name}|>`);
  });

  test('shows tools, calls, results and thinking as Qwen3 does', () => {
    const asked = [
      user('The weather?'),
      { role: 'assistant', content: '', reasoning_content: 'Hm.', tool_calls: [call, call] },
      { role: 'tool', content: '21' },
      { role: 'tool', content: '22' },
    ];
    expect(render(asked, { tools: [weather], enable_thinking: false })).toBe(`<|im_start|>system
# Tools

You may call these functions:
<tools>
${'{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}'}
</tools>

Answer with the name and the arguments of each call as JSON within <tool_call></tool_call>.<|im_end|>
<|im_start|>user
The weather?<|im_end|>
<|im_start|>assistant
<think>
Hm.
</think>

<tool_call>
{"name": "weather", "arguments": {"city": "Bern"}}
</tool_call>
<tool_call>
{"name": "weather", "arguments": {"city": "Bern"}}
</tool_call><|im_end|>
<|im_start|>user
<tool_response>
21
</tool_response>
<tool_response>
22
</tool_response><|im_end|>
<|im_start|>assistant
<think>

</think>

<|start_result|>`);
    expect(render([...asked, { role: 'assistant', content: '21 and 22.' }, user('Hi')])).not.toContain('Hm.');
  });
});
