// The same in a worker of the page, whose engine starts one of its own.

import { Engine } from 'vivace';
import { modelUrl } from 'vivace-storyteller';

const engine = await Engine.load(modelUrl, { backend: 'cpu', cache: false });
const question = { role: 'user', content: 'Tell me a story' };
for await (const event of engine.chat([question], { maxTokens: 8, temperature: 0 })) {
  if (event.type === 'token' || event.type === 'done') postMessage(event.text);
}
await engine.unload();
postMessage(null);
