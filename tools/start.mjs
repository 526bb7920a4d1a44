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

/** What pages of other origins ask for: the scripts of the tag and of the package, and models. */
const FOR_OTHERS = /^\/(?:(?:embed|embed_panel|vivace_worker)\.js|lib\/|models\/)/;

/** Serves other origins while developing: models as they are, scripts as they are built, again after each change. */
async function crossOriginPlugin() {
  const { DIST, ensureBuilt } = await import('./lib/build.mjs');
  const { listener } = await import('./lib/serve.mjs');
  const answer = listener({ mounts: { '/': DIST, '/models/': `${ROOT}/public/models` }, crossOrigin: true });
  let built = Promise.resolve();
  /** @type {import('vite').Connect.NextHandleFunction} */
  const serveOthers = (request, response, next) => {
    const address = request.url ?? '';
    if (!FOR_OTHERS.test(address)) return next();
    if (!address.startsWith('/models/')) built = built.catch(() => {}).then(ensureBuilt); // one build at a time
    built.then(() => answer(request, response), next);
  };
  /** @type {import('vite').Plugin} */
  const plugin = { name: 'cross-origin', configureServer: ({ middlewares }) => void middlewares.use(serveOthers) };
  return plugin;
}

/** @param {number} port */
async function startDev(port) {
  const { createServer } = await import('vite');
  const plugins = [await crossOriginPlugin()];
  const server = await createServer({ root: ROOT, server: { port }, plugins, logLevel: 'warn' });
  await server.listen();
  return { url: server.resolvedUrls?.local[0] ?? '', close: () => server.close() };
}

/** @param {number} port */
async function startBuilt(port) {
  const { DIST, ensureBuilt } = await import('./lib/build.mjs');
  const { serve } = await import('./lib/serve.mjs');
  await ensureBuilt();
  return serve({ mounts: { '/': DIST }, port, nextPort: true, crossOrigin: true });
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
