// A question, an answer as it comes, and a button that stops it.

import { Engine } from 'vivace';

const form = document.querySelector('form');
const output = document.querySelector('output');
const status = document.querySelector('[role=status]');
const ask = document.getElementById('ask');
const stop = document.getElementById('stop');

const engine = await Engine.load('../../public/models/storyteller/storyteller-q8_0.gguf', {
  onProgress({ loadedBytes, totalBytes }) {
    status.textContent = `${Math.round((100 * loadedBytes) / (totalBytes || 1))} %`;
  },
}).catch((error) => {
  status.textContent = error.message;
  throw error;
});
status.textContent = `${engine.info.model.name} on ${engine.info.adapter ?? engine.info.backend}`;
ask.disabled = false;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const controller = new AbortController();
  stop.onclick = () => controller.abort();
  ask.disabled = true;
  stop.disabled = false;
  output.textContent = '';
  const messages = [{ role: 'user', content: form.elements.question.value }];
  try {
    for await (const event of engine.chat(messages, { signal: controller.signal })) {
      if (event.type === 'token' || event.type === 'done') output.textContent += event.text;
      if (event.type === 'done') {
        status.textContent = `${event.metrics.decodeTokensPerSecond?.toFixed()} tokens per second`;
      }
    }
  } catch (error) {
    status.textContent = error.message;
  }
  ask.disabled = false;
  stop.disabled = true;
});
