// `npm run soak-leaks`: 100 loads and unloads, 20 chats of 10,000 tokens and 1,000 aborts, and the growth of heaps,
// listeners and ports with each. Exit code 1 where anything grows beyond noise.

import { runTool } from '../lib/command_line/terminal';
import { measureLeaks } from './soak/leaks';

const FLAGS = {
  loads: { kind: 'whole', value: 'N', help: 'loads and unloads (default 100)' },
  chats: { kind: 'whole', value: 'N', help: 'chats with one engine (default 20)' },
  tokens: { kind: 'whole', value: 'N', help: 'tokens of each chat (default 10000)' },
  aborts: { kind: 'whole', value: 'N', help: 'aborted answers (default 1000)' },
  backend: { kind: 'text', words: ['cpu', 'webgpu'], help: 'default cpu' },
} as const;

await runTool('npm run soak-leaks --', FLAGS, async (flags) => {
  const { loads = 100, chats = 20, tokens = 10_000, aborts = 1000, backend = 'cpu' } = flags;
  const found = await measureLeaks({ loads, chats, tokens, aborts, backend, say: console.log });
  console.log(found.length > 0 ? found.join('\n') : 'Nothing grows.');
  process.exitCode = found.length > 0 ? 1 : 0;
});
