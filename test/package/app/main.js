// The app that each bundler builds: an answer of the storyteller, as it comes.

import { Engine } from 'vivace';
import { modelUrl } from 'vivace-storyteller';

const output = document.querySelector('output');
const engine = await Engine.load(modelUrl, { backend: 'cpu', cache: false });
const question = { role: 'user', content: 'Tell me a story' };
for await (const event of engine.chat([question], { maxTokens: 8, temperature: 0 })) {
  if (event.type === 'token' || event.type === 'done') output.textContent += event.text;
}
await engine.unload();
document.title = 'done';
