// `npm start`: serves the chat page as users get it, built first if need be. `-- --port N` picks the port, `-- --dev`
// the Vite dev server, `-- --faults` adds the fault injector.

import { once } from 'node:events';
import { type Connect, createServer, type Plugin } from 'vite';
import viteConfig from '../vite.config';
import { faultHandlers } from './faults/serve';
import { DIST, ensureBuilt } from './lib/bundle/dist';
import { UsageError } from './lib/command_line/flags';
import { runTool } from './lib/command_line/terminal';
import { ROOT } from './lib/ensure.mjs';
import { listener, serve } from './lib/serve';

const DEFAULT_PORT = 5173;
const FLAGS = {
  port: {
    kind: 'whole',
    value: 'N',
    help: `first port to try (default ${DEFAULT_PORT}); a taken one is passed over`,
  },
  dev: { kind: 'switch', help: 'Vite dev server: changes show at once' },
  faults: { kind: 'switch', help: 'adds the fault injector: ?faults=gpu-destroy@token:12 in the address' },
} as const;

/** The paths that pages of other origins ask for: the scripts of the tag and of the package, and models. */
const FOR_OTHERS = /^\/(?:embed(?:_\w+)?\.js|vivace_worker\.js|embed_worker\/|lib\/|models\/)/;

/** Serves other origins while developing: models as they are, scripts as they are built, again after each change. */
function crossOriginPlugin(): Plugin {
  const answer = listener({ mounts: { '/': DIST, '/models/': `${ROOT}/public/models` }, crossOrigin: true });
  let built = Promise.resolve();
  const serveOthers: Connect.NextHandleFunction = (request, response, next) => {
    const address = request.url ?? '';
    if (!FOR_OTHERS.test(address)) return next();
    if (!address.startsWith('/models/')) built = built.catch(() => {}).then(ensureBuilt); // one build at a time
    built.then(() => answer(request, response), next);
  };
  return { name: 'cross-origin', configureServer: ({ middlewares }) => void middlewares.use(serveOthers) };
}

async function startDev(port: number) {
  const config = viteConfig({ command: 'serve', mode: 'development' });
  const server = await createServer({
    ...config,
    root: ROOT,
    configFile: false,
    server: { port },
    plugins: [...(config.plugins ?? []), crossOriginPlugin()],
    logLevel: 'warn',
  });
  await server.listen();
  return { url: server.resolvedUrls?.local[0] ?? '', close: () => server.close() };
}

async function startBuilt(port: number, faults: boolean) {
  await ensureBuilt();
  const handlers = faults ? await faultHandlers() : {};
  return serve({ mounts: { '/': DIST }, handlers, port, nextPort: true, crossOrigin: true });
}

await runTool('npm start --', FLAGS, async ({ port = DEFAULT_PORT, dev, faults }) => {
  if (port < 0 || port > 65_535) throw new UsageError(`--port ${port} is not a port.`);
  if (dev && faults) throw new UsageError('--faults is for the built page: leave out --dev.');
  const server = await (dev ? startDev(port) : startBuilt(port, faults === true));
  console.log(`Vivace: ${server.url}`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await server.close();
  process.exit(0);
});
