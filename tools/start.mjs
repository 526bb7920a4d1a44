// `npm start`: serves the chat page as users get it, built first if need be. `-- --port N` picks the port, `-- --dev` the Vite dev server.

import { parseArgs } from 'node:util';
import { ensurePackages, ROOT } from './lib/ensure.mjs';

const DEFAULT_PORT = 5173;
const USAGE = `npm start -- [--port N] [--dev]
  --port N   first port to try (default ${DEFAULT_PORT}); a taken one is passed over
  --dev      Vite dev server: changes show at once`;

/** @returns {{ port: number, dev: boolean }} */
function readArguments() {
  try {
    const { values } = parseArgs({
      options: { port: { type: 'string' }, dev: { type: 'boolean' }, help: { type: 'boolean' } },
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    const port = Number(values.port ?? DEFAULT_PORT);
    if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error(`--port ${values.port} is not a port`);
    return { port, dev: values.dev ?? false };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(2);
  }
}

/** @param {number} port */
async function startDev(port) {
  const { createServer } = await import('vite');
  const server = await createServer({ root: ROOT, server: { port }, logLevel: 'warn' });
  await server.listen();
  return { url: server.resolvedUrls?.local[0] ?? '', close: () => server.close() };
}

/** @param {number} port */
async function startBuilt(port) {
  const { DIST, ensureBuilt } = await import('./lib/build.mjs');
  const { serve } = await import('./lib/serve.mjs');
  await ensureBuilt();
  return serve({ mounts: { '/': DIST }, port, nextPort: true });
}

const { port, dev } = readArguments();
ensurePackages();
const server = await (dev ? startDev(port) : startBuilt(port));
console.log(`Vivace: ${server.url}`);

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.once(signal, async () => {
    await server.close();
    process.exit(0);
  });
}
