// The order of modules in the bundles. gzip finds repetitions up to 32 KB apart, so modules that are alike lie side by
// side: about 3 KB less for the script tag with its panel than in the order in which modules happen to import.

import { type Plugin, parseAst, type Rolldown } from 'vite';
import { shadersOfEngine } from './wgsl_plugin.ts';

/** Modules of both the page's and the worker's code, placed where the two meet. */
const SHARED = ['comlink', '/src/errors', '/src/storage/hub/hub_address'];

/** Each module stands behind everything that it imports. */
const WORKER = [
  '/src/text/template/chat_template',
  '/src/text/decode/graphemes',
  '/src/text/encode/pre_tokenizer',
  '/src/text/any_tokenizer',
  '/src/text/tokenizer',
  '/src/model/config/read_gguf',
  '/src/model/config/read',
  '/src/cpu/llama',
  '/src/gpu/readback',
  '/src/cpu/quantize',
  '/src/tune/roofline',
  '/src/tune/tune',
  '/src/engine/load/load',
];

const EMBED = [
  '/src/embed/session/embed_session',
  'streaming-markdown',
  '/src/ui/chat/chat_run',
  '/src/ui/markdown/markdown',
  '/src/ui/turn/turn_editor',
];

const PANEL = [
  'lit',
  'uplot',
  '/src/metrics/chart/chart_styles',
  '/src/metrics/panel/panel_styles',
  '/src/metrics/tuning/tune_styles',
  '/src/metrics/chart/views/tokens_view',
  '/src/metrics/chart/plot/tbt_chart',
];

/** The first modules of each bundle, by the end of the path of its entry. */
const ORDERS: Record<string, () => Promise<string[]>> = {
  '/src/engine/worker/worker.ts': async () => {
    // From the last to the first: 40 bytes less.
    const shaders = (await shadersOfEngine()).map((file) => `/shaders/${file}?raw`).reverse();
    return [...SHARED, ...shaders, ...WORKER];
  },
  '/src/engine/page/worker_code/worker_source.ts': async () => SHARED,
  '/src/embed/tag/embed.ts': async () => EMBED,
  '/src/embed/beside/panel_entry.ts': async () => PANEL,
};

type Context = Rolldown.PluginContext;

/** The modules that a module imports at once, and those that they import. */
async function importedAtOnce(context: Context, code: string, id: string): Promise<Set<string>> {
  const imports = parseAst(code, { lang: 'ts' }).body.filter((node) => node.type === 'ImportDeclaration');
  const values = imports.filter(({ importKind }) => importKind !== 'type').map(({ source }) => source.value);
  const found = await Promise.all(values.map((file) => context.resolve(file, id)));
  const reached = new Set(found.flatMap((module) => module?.id ?? []));
  for (const each of reached) {
    const { importedIds } = await context.load({ id: each });
    for (const imported of importedIds) reached.add(imported); // a set goes on with what joins it
  }
  return reached;
}

/**
 * Adds imports that change nothing but the order.
 * @param isWhole the bundle has one file. If not, what is imported later stays out of its core.
 */
export function orderPlugin(isWhole = true): Plugin {
  return {
    name: 'order',
    apply: 'build',
    enforce: 'pre',
    async transform(code, id) {
      const order = await Object.entries(ORDERS).find(([entry]) => id.endsWith(entry))?.[1]();
      if (!order) return null;
      const atOnce = isWhole ? null : await importedAtOnce(this, code, id);
      const ids = await Promise.all(order.map((module) => this.resolve(module, id)));
      const ordered = order.filter((_, i) => !atOnce || atOnce.has(ids[i]?.id ?? ''));
      return ordered.map((module) => `import ${JSON.stringify(module)};`).join('') + code;
    },
  };
}
