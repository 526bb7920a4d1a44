// `npm run build`: builds dist/ and prints its sizes; see build.ts.

import { runTypeScript } from './lib/run.mjs';

await runTypeScript('tools/build.ts');
