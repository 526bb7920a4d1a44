// `npm run bundle-order -- --bundle panel`: searches an order of modules in which a bundle is smaller, and prints it
// for tools/lib/bundle/order_plugin.ts.

import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { minifySync } from 'rolldown/experimental';
import { build, type InlineConfig, type Plugin, type PluginOption, type Rolldown } from 'vite';
import { randomSource } from '../../test/random';
import { modeConfig } from '../lib/bundle/build';
import { firstModules, nameOf, SHADERS, shadersAmong } from '../lib/bundle/order_plugin';
import { type BundledModules, orderWith, searchOrder } from '../lib/bundle/order_search';
import { MINIFY, workerConfig } from '../lib/bundle/worker_plugin';
import { runTool } from '../lib/command_line/terminal';
import { ROOT } from '../lib/ensure.mjs';

const FLAGS = {
  bundle: { kind: 'text', words: ['worker', 'tag', 'panel'], help: 'default worker' },
  tries: { kind: 'count', value: 'N', help: 'orders to try (default 2000)' },
  seed: { kind: 'whole', value: 'N', help: 'of the random orders (default 1)' },
} as const;

/** The entry of each bundle, and its configuration. */
const BUNDLES: Readonly<Record<string, { entry: string; config: () => InlineConfig }>> = {
  worker: { entry: 'src/engine/worker/worker.ts', config: () => workerConfig(false) },
  tag: { entry: 'src/embed/tag/embed.ts', config: () => modeConfig('embed') },
  panel: { entry: 'src/embed/beside/panel_entry.ts', config: () => modeConfig('panel') },
};

const isOrder = (plugin: PluginOption) => plugin instanceof Object && 'name' in plugin && plugin.name === 'order';

interface Bundle extends BundledModules {
  code: ReadonlyMap<string, string>;
  /** The exports of an ES module. */
  end: string;
}

/** Bundles without minifying, so that modules can change places, and without the imports of the order in use. */
async function bundleOf({ entry, config }: (typeof BUNDLES)[string]): Promise<Bundle> {
  const imports = new Map<string, readonly string[]>();
  const asked = config();
  const graph: Plugin = {
    name: 'graph',
    generateBundle() {
      for (const id of this.getModuleIds()) imports.set(id, this.getModuleInfo(id)?.importedIds ?? []);
    },
  };
  const { output, ...rolldownOptions } = asked.build?.rolldownOptions ?? {};
  const built = (await build({
    ...asked,
    plugins: [...(asked.plugins ?? []).filter((plugin) => !isOrder(plugin)), graph],
    build: {
      ...asked.build,
      write: false,
      rolldownOptions: { ...rolldownOptions, output: { ...output, minify: false } },
    },
  })) as Rolldown.RolldownOutput[];
  const id = path.join(ROOT, entry);
  const chunks = built.flatMap((each) => each.output).filter((each) => each.type === 'chunk');
  const chunk = chunks.find(({ modules }) => id in modules);
  if (!chunk) throw new Error(`No file has ${entry}.`);
  const code = new Map(Object.entries(chunk.modules).map(([module, { code }]) => [module, code ?? '']));
  const end = chunk.code.slice(chunk.code.lastIndexOf('\nexport {'));
  return { entry: id, ids: [...code.keys()], imports, code, end: end.startsWith('\nexport {') ? end : '' };
}

await runTool('npm run bundle-order --', FLAGS, async ({ bundle: name = 'worker', tries = 2000, seed = 1 }) => {
  process.env.NODE_ENV = 'production';
  const bundle = await bundleOf(BUNDLES[name] as (typeof BUNDLES)[string]);
  const sizeOf = (order: readonly string[]) => {
    const text = order.map((id) => bundle.code.get(id)).join('\n');
    const script = bundle.end ? `${text}${bundle.end}` : `(function(){${text}})();`;
    const { code } = minifySync('bundle.js', script, { module: bundle.end !== '', ...MINIFY });
    return gzipSync(code, { level: 9 }).length;
  };
  const first = firstModules(bundle.entry, bundle.ids);
  const before = sizeOf(orderWith(bundle, first));
  const onBetter = (size: number) => process.stderr.write(`\r${size} of ${before} bytes `);
  const found = searchOrder(bundle, first, shadersAmong(bundle.ids), sizeOf, {
    tries,
    random: randomSource(seed),
    onBetter,
  });
  console.error();
  const names = found.first
    .map(nameOf)
    .filter((each, i, all) => !each.startsWith(SHADERS) || !all[i - 1]?.startsWith(SHADERS));
  for (const each of names) console.log(`  ${each.startsWith(SHADERS) ? 'SHADERS' : `'${each}'`},`);
});
