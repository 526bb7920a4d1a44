// Answers from texts of one's own: an embedding model finds those that fit the question, and another model reads them.
// Neither a question nor a text leaves the page.

import { Engine } from 'vivace';

const EMBEDDER = 'hf:Qwen/Qwen3-Embedding-0.6B-GGUF:Q8_0';
const WRITER = 'hf:Qwen/Qwen3-0.6B-GGUF:Q8_0';
/** The instruction that this embedding model demands before a question. Texts have none. */
const TASK = 'Instruct: Given a question, retrieve the passages that answer it\nQuery: ';
const TEXTS = [
  'A lamp can be returned within 30 days if its box is unopened.',
  'The shop in Basel is open from 9 to 18 on weekdays.',
  'Bulbs are not part of a lamp. Every lamp takes E27.',
  'We deliver within Switzerland in two days. Delivery is free from 80 francs on.',
];
const MOST_SOURCES = 2;

const find = <T extends Element>(selector: string) => document.querySelector(selector) as T;
const form = find<HTMLFormElement>('form');
const ask = find<HTMLButtonElement>('#ask');
const output = find('output');
const sources = find('ol');
const status = find('[role=status]');

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

function fail(error: Error): never {
  status.textContent = error.message;
  throw error;
}

const embedder = await Engine.load(EMBEDDER).catch(fail);
const writer = await Engine.load(WRITER).catch(fail);
const { vectors } = await embedder.embed(TEXTS);
status.textContent = 'Ready';
ask.disabled = false;

async function search(question: string): Promise<string[]> {
  const [asked] = (await embedder.embed([TASK + question])).vectors;
  if (!asked) return [];
  return TEXTS.map((text, i) => ({ text, score: vectors[i] ? cosine(asked, vectors[i]) : 0 }))
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_SOURCES)
    .map(({ text }) => text);
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  ask.disabled = true;
  output.textContent = '';
  const question = String(new FormData(form).get('question'));
  const found = await search(question);
  sources.replaceChildren(...found.map((text) => Object.assign(document.createElement('li'), { textContent: text })));
  const messages = [
    { role: 'system', content: `Answer from these texts alone.\n\n${found.join('\n')}` },
    { role: 'user', content: question },
  ] as const;
  for await (const event of writer.chat(messages, { thinking: 'off', temperature: 0 })) {
    if (event.type === 'token' || event.type === 'done') output.textContent += event.text;
  }
  ask.disabled = false;
});
