// `npm start`: serves the chat page; see start.ts.

import { runTypeScript } from './lib/run.mjs';

await runTypeScript('tools/start.ts');
